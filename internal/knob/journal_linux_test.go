package knob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/spec"
)

func contextOf(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func TestTwoHoldersExcludeEachOther(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	one, two := newTestHolder(t, ns, dir), newTestHolder(t, ns, dir)
	one.cfg.Who = "the first"
	if _, err := one.Set(t.Context(), local(setting(ttl, "70"))); err != nil {
		t.Fatal(err)
	}
	_, err := two.Set(t.Context(), local(setting(ttl, "71")))
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "the first") || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("%v, want ErrHeld with who holds it", err)
	}
	// Another namespace's is another setting.
	three := newTestHolder(t, newNS(t), dir)
	if _, err := three.Set(t.Context(), local(setting(ttl, "72"))); err != nil {
		t.Error(err)
	}
	if all, err := Recover(t.Context(), dir); err != nil || len(all) != 2 || !all[0].Held || all[0].Done != "" {
		t.Errorf("recovery of what is held: %+v, %v", all, err)
	}
	if got := readSysctl(t, ns, ttl); got != "70" {
		t.Errorf("it is %s, the holder set 70", got)
	}
	if err := one.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Set(t.Context(), local(setting(ttl, "71"))); err != nil {
		t.Errorf("after it was let go: %v", err)
	}
}

// TestTwoEndsOfOneMachine: a setting of the machine is both ends', where one
// process serves both and they ask for one value.
func TestTwoEndsOfOneMachine(t *testing.T) {
	root, dir := fakeHost(t), newJournal(t)
	one, two := newTestHolder(t, nil, dir), newTestHolder(t, nil, dir)
	one.root, two.root = root, root
	far := func(value string) Request {
		return Request{End: spec.EndRemote, Settings: []spec.Setting{setting("busy_poll", value)}}
	}
	if changes, err := one.Set(t.Context(), local(setting("busy_poll", "70"))); err != nil || len(changes) != 1 {
		t.Fatalf("%+v, %v", changes, err)
	}
	if changes, err := two.Set(t.Context(), far("70")); err != nil || len(changes) != 0 {
		t.Errorf("the same at the other end: %+v, %v", changes, err)
	}
	if _, err := two.Set(t.Context(), far("80")); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "one value at both ends") {
		t.Errorf("another at the other end: %v", err)
	}
	if _, err := two.Set(t.Context(), local(setting("busy_poll", "70"))); !errors.Is(err, ErrHeld) {
		t.Errorf("the same end of another run: %v", err)
	}
	if err := errors.Join(two.Restore(t.Context()), one.Restore(t.Context())); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, dir)
}

// abandon makes a Holder's settings those of a process that has died.
func abandon(t testing.TB, h *Holder) {
	t.Helper()
	for _, one := range h.held {
		if err := one.lock.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.held = nil
	if err := h.idle(); err != nil {
		t.Fatal(err)
	}
}

// alter changes the one record of a journal.
func alter(t testing.TB, dir string, change func(*record)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+recordEnd))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%d records, %v; want one", len(paths), err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	change(&r)
	if data, err = r.encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(paths[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRecover(t *testing.T) {
	for _, c := range []struct {
		name, done string
		change     func(*record)
		restored   bool
	}{
		{"a dead process's", "restored from 70 to ", func(*record) {}, true},
		{"after a boot", "booted since", func(r *record) { r.Boot = "0e2c5d7e-0000-4000-8000-000000000001" }, false},
		{"a namespace that has gone", "namespace has gone", func(r *record) { r.NS.Inode, r.NS.Cookie = 1, 1 }, false},
		{"another namespace of that number", "namespace has gone", func(r *record) { r.NS.Cookie += 1 << 40 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			ns, dir := newNS(t), newJournal(t)
			was := readSysctl(t, ns, ttl)
			h := newTestHolder(t, ns, dir)
			if _, err := h.Set(t.Context(), local(setting(ttl, "70"))); err != nil {
				t.Fatal(err)
			}
			abandon(t, h)
			alter(t, dir, c.change)
			if all := pending(t, dir); len(all) != 1 || all[0].Held || all[0].Was != was {
				t.Errorf("pending %+v", all)
			}
			all, err := Recover(t.Context(), dir)
			if err != nil || len(all) != 1 || all[0].Err != nil || !strings.Contains(all[0].Done, c.done) {
				t.Fatalf("%+v, %v; want %q", all, err, c.done)
			}
			if got := readSysctl(t, ns, ttl); (got == was) != c.restored {
				t.Errorf("it is %s, it was %s", got, was)
			}
			checkEmpty(t, dir)
		})
	}
}

// TestSetRestoresWhatTheDeadLeft: the next holder's "was" is what the setting
// was before the one that died.
func TestSetRestoresWhatTheDeadLeft(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	was := readSysctl(t, ns, ttl)
	h := newTestHolder(t, ns, dir)
	if _, err := h.Set(t.Context(), local(setting(ttl, "70"))); err != nil {
		t.Fatal(err)
	}
	abandon(t, h)
	changes, err := h.Set(t.Context(), local(setting(ttl, "71")))
	if err != nil || len(changes) != 1 || changes[0].Was != was {
		t.Fatalf("%+v, %v; want that it was %s", changes, err, was)
	}
	if all := pending(t, dir); len(all) != 1 || all[0].Was != was {
		t.Errorf("pending %+v", all)
	}
}

// TestRecoverKeepsWhatFails, and restores it when what was in the way has gone.
func TestRecoverKeepsWhatFails(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	h := newTestHolder(t, ns, dir)
	if _, err := h.Set(t.Context(), local(setting(ttl, "70"))); err != nil {
		t.Fatal(err)
	}
	abandon(t, h)
	was := ""
	alter(t, dir, func(r *record) { was, r.Was = r.Was, "no number" })
	all, err := Recover(t.Context(), dir)
	if err != nil || len(all) != 1 || all[0].Err == nil || all[0].Done != "" {
		t.Fatalf("%+v, %v; want one that failed", all, err)
	}
	alter(t, dir, func(r *record) { r.Was = was })
	if all, err = Recover(t.Context(), dir); err != nil || len(all) != 1 || all[0].Err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	checkEmpty(t, dir)
}

func TestDamagedRecordsStay(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	h := newTestHolder(t, ns, dir)
	if _, err := h.Set(t.Context(), local(setting(ttl, "70"))); err != nil {
		t.Fatal(err)
	}
	id := h.held[0].id
	abandon(t, h)
	path := filepath.Join(dir, stemOf(id)+recordEnd)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": {}, "cut": whole[:len(whole)/2], "other": []byte("[]\n"), "twice": append(bytes.Clone(whole), whole...),
		"later": bytes.Replace(whole, []byte(recordSchema), []byte("netdelta.setting/9"), 1),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := Recover(t.Context(), dir)
		if err != nil || len(all) != 1 || all[0].Err == nil || !strings.Contains(all[0].Err.Error(), path) {
			t.Errorf("%s: %+v, %v; want an error that names the file", name, all, err)
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, data) {
			t.Errorf("%s: the file did not stay: %v", name, err)
		}
		if _, err := h.Set(t.Context(), local(setting(ttl, "71"))); err == nil || !strings.Contains(err.Error(), "not changed") {
			t.Errorf("%s: Set went over it: %v", name, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := Recover(t.Context(), dir); err != nil || len(all) != 1 || all[0].Err != nil {
		t.Errorf("whole: %+v, %v", all, err)
	}
	checkEmpty(t, dir)
}
