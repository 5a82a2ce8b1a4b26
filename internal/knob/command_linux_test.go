package knob

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/spec"
)

func commandSetting(level, apply, restore, check string) spec.Setting {
	return spec.Setting{End: spec.EndLocal, Knob: "command", Value: level, Command: &spec.Command{Apply: apply, Restore: restore, Check: check}}
}

// did reads what commands have written, each a word.
func did(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return normal(string(text))
}

// TestCommandLevels: levels with one restore follow each other without it; with
// another restore, or without a successor, it is run first.
func TestCommandLevels(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	log := filepath.Join(t.TempDir(), "log")
	say := func(word string) string { return "echo " + word + " >>" + log }
	level := func(name, restore string) spec.Setting { return commandSetting(name, say(name), restore, "") }
	a, b, c := level("a", say("undo-ab")), level("b", say("undo-ab")), level("c", say("undo-c"))
	other := level("x", say("undo-ab")) // another factor's, with the same restore
	h := newTestHolder(t, ns, dir)
	for _, step := range []struct {
		settings []spec.Setting
		want     string
	}{
		{[]spec.Setting{a}, "a"},
		{[]spec.Setting{a}, ""},
		{[]spec.Setting{b}, "b"},
		{[]spec.Setting{a}, "a"},
		{[]spec.Setting{c}, "undo-ab c"},
		{[]spec.Setting{}, "undo-c"},
		{[]spec.Setting{a, other}, "a x"},
		{[]spec.Setting{b, other}, "b"},
		{[]spec.Setting{b, other, level("n", "")}, "n"},
		{[]spec.Setting{b, other, level("m", "")}, "m"},
	} {
		os.Remove(log)
		changes, err := h.Set(t.Context(), local(step.settings...))
		if err != nil {
			t.Fatal(err)
		}
		if got := did(t, log); got != step.want {
			t.Errorf("%v: ran %q, want %q; changes %+v", step.settings, got, step.want, changes)
		}
	}
	os.Remove(log)
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := did(t, log); got != "undo-ab undo-ab" {
		t.Errorf("restored by %q", got)
	}
	checkEmpty(t, dir)
}

func TestCommandChangesTellLevels(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	h := newTestHolder(t, ns, dir)
	for i, want := range []string{unknown + " to one", "one to two"} {
		changes, err := h.Set(t.Context(), local(commandSetting([]string{"one", "two"}[i], "true", "true", "")))
		if err != nil || len(changes) != 1 || changes[0].Was+" to "+changes[0].Value != want {
			t.Errorf("%+v, %v; want %s", changes, err, want)
		}
	}
}

func TestCommandCheck(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	path := filepath.Join(t.TempDir(), "state")
	log := path + ".log"
	s := commandSetting("on", "echo on >"+path+"; echo apply >>"+log, "rm -f "+path+"; echo undo >>"+log, "grep -q on "+path)
	h := newTestHolder(t, ns, dir)
	// Made by somebody else: left alone, and not undone either.
	if err := os.WriteFile(path, []byte("on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changes, err := h.Set(t.Context(), local(s)); err != nil || len(changes) != 0 {
		t.Errorf("%+v, %v", changes, err)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := did(t, log); got != "" {
		t.Errorf("ran %q", got)
	}
	os.Remove(path)
	for range 2 {
		if _, err := h.Set(t.Context(), local(s)); err != nil {
			t.Fatal(err)
		}
	}
	// Undone behind the holder's back: the check sees that.
	os.Remove(path)
	if changes, err := h.Set(t.Context(), local(s)); err != nil || len(changes) != 1 {
		t.Errorf("%+v, %v", changes, err)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := did(t, log); got != "apply apply undo" {
		t.Errorf("ran %q", got)
	}
}

func TestCommandFails(t *testing.T) {
	labtest.NoLeaks(t)
	ns := newNS(t)
	for _, c := range []struct {
		name, apply, check string
		want               []string
	}{
		{"status", "echo one >&2; echo two >&2; exit 7", "", []string{"exit status 7", "one; two"}},
		{"check", "true", "echo not made >&2; exit 1", []string{"was run, but check", "not made"}},
		{"signal", "kill -9 $$", "", []string{"killed"}},
		{"nothing", " ", "", []string{"needs apply"}},
	} {
		dir := newJournal(t)
		h := newTestHolder(t, ns, dir)
		changes, err := h.Set(t.Context(), local(commandSetting("l", c.apply, "", c.check)))
		for _, want := range c.want {
			if err == nil || len(changes) != 0 || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v; want an error with %q", c.name, changes, err, want)
			}
		}
	}
	h := NewHolder(Config{Journal: newJournal(t), NS: ns})
	if _, err := h.Set(t.Context(), local(commandSetting("l", "true", "", ""))); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("%v, want that commands are not allowed", err)
	}
}

// TestCommandIsToldWhere: the environment, the namespace, and that what it
// leaves running keeps nobody waiting.
func TestCommandIsToldWhere(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	out := filepath.Join(t.TempDir(), "out")
	apply := "echo $NETDELTA_END $NETDELTA_LEVEL $NETDELTA_PEER $NETDELTA_DEVICE >" + out + "; readlink /proc/self/ns/net >>" + out +
		"; sleep 60 & echo $! >>" + out
	r := local(commandSetting("l1", apply, "kill $(tail -n 1 "+out+")", ""))
	r.Settings[0].Device = "lo"
	r.Peer = netip.MustParseAddr("192.0.2.2")
	h := newTestHolder(t, ns, dir)
	begun := time.Now()
	if _, err := h.Set(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 50*time.Second {
		t.Errorf("what the command left running was waited for: %v", took)
	}
	id, err := ns.ID()
	if err != nil {
		t.Fatal(err)
	}
	if got := did(t, out); !strings.HasPrefix(got, "local l1 192.0.2.2 lo "+nameOfNS(id.Inode)+" ") {
		t.Errorf("it saw %s", got)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCommandIsKilledAsAGroup(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	fifo := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	h := newTestHolder(t, ns, dir)
	go func() {
		_, err := h.Set(ctx, local(commandSetting("l", "sleep 300 & echo $! >"+fifo+".new; mv "+fifo+".new "+fifo+"; wait", "", "")))
		done <- err
	}()
	for did(t, fifo) == "" {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%v, want that it was killed", err)
	}
	pid := did(t, fifo)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(text), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("what the command started, process %s, lives", pid)
		}
	}
}

// TestRecoverCommand: after a boot, and where its namespace has gone, too.
func TestRecoverCommand(t *testing.T) {
	for _, c := range []struct {
		name, restore, done, ran string
		change                   func(*record)
	}{
		{"dead", "echo undo >>", "restore command was run", "undo", func(*record) {}},
		{"another boot", "echo undo >>", "restore command was run", "undo", func(r *record) { r.Boot, r.Own = "x", true }},
		{"no namespace", "echo undo >>", "in an empty one its restore command was run", "undo", func(r *record) { r.NS.Inode = 1 }},
		{"no namespace and no success", "ip link del gone77; exit 1; echo >>", "namespace has gone: run in an empty one", "", func(r *record) { r.NS.Inode = 1 }},
		{"nothing to run", "", "no restore command", "", func(*record) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.NoLeaks(t)
			ns, dir := newNS(t), newJournal(t)
			log := filepath.Join(t.TempDir(), "log")
			if c.restore != "" {
				c.restore += log
			}
			h := newTestHolder(t, ns, dir)
			for _, level := range []string{"a", "b"} {
				if _, err := h.Set(t.Context(), local(commandSetting(level, "true", c.restore, ""))); err != nil {
					t.Fatal(err)
				}
			}
			abandon(t, h)
			alter(t, dir, func(r *record) {
				if r.Setting.Value != "b" {
					t.Errorf("the journal has level %s, the last was b", r.Setting.Value)
				}
				c.change(r)
			})
			all, err := Recover(t.Context(), dir)
			if err != nil || len(all) != 1 || all[0].Err != nil || !strings.Contains(all[0].Done, c.done) {
				t.Errorf("%+v, %v; want %q", all, err, c.done)
			}
			if got := did(t, log); got != c.ran {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
			checkEmpty(t, dir)
		})
	}
}
