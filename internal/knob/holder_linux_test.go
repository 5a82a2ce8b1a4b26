package knob

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Two parameters of a namespace that any root of one may set.
const (
	ttl  = "sysctl.net.ipv4.ip_default_ttl"
	fin  = "sysctl.net.ipv4.tcp_fin_timeout"
	port = "sysctl.net.ipv4.ip_local_port_range"
)

func newNS(t testing.TB) *sys.NetNS {
	t.Helper()
	labtest.Need(t, feature.NetNS)
	ns, err := sys.NewNetNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}

// newJournal is a directory that only this user may write to.
func newJournal(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "settings")
}

func newTestHolder(t testing.TB, ns *sys.NetNS, dir string) *Holder {
	t.Helper()
	h := NewHolder(Config{Journal: dir, NS: ns, Who: "a test", Commands: true})
	t.Cleanup(func() {
		if err := h.Restore(t.Context()); err != nil && !t.Failed() && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return h
}

func local(settings ...spec.Setting) Request {
	return Request{End: spec.EndLocal, Settings: settings}
}

func setting(knob, value string) spec.Setting {
	return spec.Setting{End: spec.EndLocal, Knob: knob, Value: value}
}

func readSysctl(t testing.TB, ns *sys.NetNS, knob string) string {
	t.Helper()
	c, err := sysctlAt(Place{NS: ns}, strings.TrimPrefix(knob, "sysctl."))
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func pending(t testing.TB, dir string) []Entry {
	t.Helper()
	all, err := Pending(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkEmpty: after everything is restored the journal has no file at all.
func checkEmpty(t testing.TB, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Errorf("the journal still has %s", f.Name())
	}
}

func TestSetChangesAndRestorePutsBack(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	was, range0 := readSysctl(t, ns, ttl), readSysctl(t, ns, port)
	h := newTestHolder(t, ns, dir)
	changes, err := h.Set(t.Context(), local(setting(ttl, "77"), setting(port, "20000 30000"), setting(fin, readSysctl(t, ns, fin))))
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 2 || changes[0].Was != was || changes[0].Value != "77" || changes[0].Knob != ttl || changes[0].End != "local" || changes[0].Took <= 0 {
		t.Errorf("changes %+v, want those of %s (from %s) and %s", changes, ttl, was, port)
	}
	if got := readSysctl(t, ns, ttl) + ", " + readSysctl(t, ns, port); got != "77, 20000 30000" {
		t.Errorf("set to %s", got)
	}
	// What had its value already is held, too.
	if all := pending(t, dir); len(all) != 3 || !all[0].Held || all[0].Was != was || all[0].Who != "a test" || all[0].PID != os.Getpid() {
		t.Errorf("pending %+v", all)
	}
	if again, err := h.Set(t.Context(), local(setting(ttl, "77"), setting(port, "20000\t30000"))); err != nil || len(again) != 0 {
		t.Errorf("the same again changed %+v, %v", again, err)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := readSysctl(t, ns, ttl); got != was {
		t.Errorf("restored to %s, it was %s", got, was)
	}
	if got := readSysctl(t, ns, port); got != range0 {
		t.Errorf("restored to %s, it was %s", got, range0)
	}
	checkEmpty(t, dir)
}

// TestSetLetsGoWhatIsNotAskedAnyMore: levels change within one Holder, and what
// the setting was stays what it was before the first.
func TestSetLetsGoWhatIsNotAskedAnyMore(t *testing.T) {
	labtest.NoLeaks(t)
	ns, dir := newNS(t), newJournal(t)
	was, wasFin := readSysctl(t, ns, ttl), readSysctl(t, ns, fin)
	h := newTestHolder(t, ns, dir)
	for _, r := range []Request{local(setting(ttl, "70"), setting(fin, "30")), local(setting(ttl, "71"), setting(fin, "31"))} {
		if _, err := h.Set(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := h.Set(t.Context(), local(setting(fin, "32")))
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 2 || changes[0].Knob != ttl || changes[0].Was != "71" || changes[0].Value != was || changes[1].Was != "31" {
		t.Errorf("changes %+v, want the restored %s first", changes, ttl)
	}
	if got := readSysctl(t, ns, ttl); got != was {
		t.Errorf("%s is %s, it was %s", ttl, got, was)
	}
	if _, err := h.Set(t.Context(), local()); err != nil {
		t.Fatal(err)
	}
	if got := readSysctl(t, ns, fin); got != wasFin {
		t.Errorf("%s is %s, it was %s", fin, got, wasFin)
	}
	checkEmpty(t, dir)
}

func TestHolderRefuses(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	h := newTestHolder(t, ns, dir)
	remote := netip.MustParseAddr("192.0.2.77")
	for _, c := range []struct {
		name, want string
		r          Request
	}{
		{"a contradiction", "ask for two values", local(setting("congestion", "cubic"), setting("sysctl.net.ipv4.tcp_congestion_control", "reno"))},
		{"no interface known", "name the interface", local(setting("mtu", "1400"))},
		{"an address that is not here", "no interface here has the path's address 192.0.2.77", Request{End: spec.EndLocal, Addr: remote, Settings: []spec.Setting{setting("mtu", "1400")}}},
		{"no such interface", "there are lo", local(spec.Setting{End: spec.EndLocal, Device: "eth77", Knob: "mtu", Value: "1400"})},
		{"no such parameter", "sysctl -a", local(setting("sysctl.net.ipv4.no_such_thing", "1"))},
		{"a path", "is no sysctl", local(setting("sysctl.net/../../self/comm", "1"))},
		{"no such congestion control", "modprobe tcp_nosuch", local(setting("congestion", "nosuch"))},
		{"what is a worker's", "no setting of a host", local(setting("cpu", "0"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes, err := h.Set(t.Context(), c.r)
			if err == nil || len(changes) != 0 || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want an error with %q", changes, err, c.want)
			}
		})
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, dir)
}

// TestIgnoredSetting: a value that the kernel takes and does not keep is an
// error that says so.
func TestIgnoredSetting(t *testing.T) {
	root, dir := t.TempDir(), newJournal(t)
	fakeFile(t, root, "/proc/sys/net/ipv4/ip_default_ttl", "64")
	// What is written there is gone.
	if err := os.Symlink("/dev/null", filepath.Join(root, "proc/sys/net/ipv4/deaf")); err != nil {
		t.Fatal(err)
	}
	h := newTestHolder(t, nil, dir)
	h.root = root
	_, err := h.Set(t.Context(), local(setting("sysctl.net.ipv4.deaf", "1")))
	if err == nil || !strings.Contains(err.Error(), "ignored it") || !strings.Contains(err.Error(), "after 1 was written") {
		t.Errorf("%v, want that it was ignored", err)
	}
}

func fakeFile(t testing.TB, root, path, text string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSetAfterCancellation(t *testing.T) {
	ns, dir := newNS(t), newJournal(t)
	h := newTestHolder(t, ns, dir)
	ctx, cancel := contextOf(t)
	cancel()
	if _, err := h.Set(ctx, local(setting(ttl, "70"))); !errors.Is(err, ctx.Err()) {
		t.Errorf("%v, want %v", err, ctx.Err())
	}
	if got := readSysctl(t, ns, ttl); got == "70" {
		t.Error("it was set all the same")
	}
}
