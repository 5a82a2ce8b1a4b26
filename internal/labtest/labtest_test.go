//go:build linux

package labtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

func TestMain(m *testing.M) { os.Exit(Main(m, nil)) }

// recorder is a test that only notes what would become of it.
type recorder struct {
	testing.TB
	skipped, failed bool
	said            string
	cleanups        []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Skipped() bool    { return r.skipped }
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Skip(args ...any) { r.skipped, r.said = true, fmt.Sprint(args...) }
func (r *recorder) Fatalf(f string, args ...any) {
	r.failed, r.said = true, fmt.Sprintf(f, args...)
}
func (r *recorder) Errorf(f string, args ...any) { r.Fatalf(f, args...) }

func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestSkipTellsTheReason(t *testing.T) {
	reason := errors.New("no such thing here")
	t.Setenv(requireVar, "")
	r := &recorder{TB: t}
	if Skip(r, reason); !r.skipped || r.failed || !strings.Contains(r.said, reason.Error()) {
		t.Errorf("skipped %v, failed %v: %s", r.skipped, r.failed, r.said)
	}
}

func TestSkipFailsWhereAllIsRequired(t *testing.T) {
	reason := errors.New("no such thing here")
	t.Setenv(requireVar, "all")
	r := &recorder{TB: t}
	if Skip(r, reason); !r.failed || !strings.Contains(r.said, reason.Error()) {
		t.Errorf("skipped %v, failed %v: %s", r.skipped, r.failed, r.said)
	}
}

func TestNeed(t *testing.T) {
	t.Setenv(requireVar, "")
	for _, p := range feature.All {
		r := &recorder{TB: t}
		Need(r, p)
		if r.skipped != (p.Err() != nil) || r.failed {
			t.Errorf("%s: skipped %v, failed %v, error %v", p.Name, r.skipped, r.failed, p.Err())
		}
	}
}

// TestNoLeaksFindsLeaks leaves one thing of each kind behind and takes it
// away only after the check.
func TestNoLeaksFindsLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("each leak is waited for")
	}
	old := leakDeadline
	leakDeadline = old / 100
	defer func() { leakDeadline = old }()
	for _, c := range []struct {
		name, want string
		leak       func(t *testing.T) (undo func())
	}{
		{"nothing", "", func(*testing.T) func() { return func() {} }},
		{"namespace", "descriptors of net", func(t *testing.T) func() {
			Need(t, feature.NetNS)
			ns, err := sys.NewNetNS()
			if err != nil {
				t.Fatal(err)
			}
			return func() { ns.Close() }
		}},
		{"process", "child processes", func(t *testing.T) func() {
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			return func() { in.Close(); cmd.Wait() }
		}},
		{"pipe", "descriptors of pipe", func(t *testing.T) func() {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			return func() { r.Close(); w.Close() }
		}},
		{"goroutine", "goroutines", func(*testing.T) func() {
			stop := make(chan struct{})
			go func() { <-stop }()
			return func() { close(stop) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{TB: t}
			NoLeaks(r)
			undo := c.leak(t)
			r.end()
			undo()
			if r.failed != (c.want != "") || !strings.Contains(r.said, c.want) {
				t.Errorf("failed %v, said %q; want %q in it", r.failed, r.said, c.want)
			}
		})
	}
}

func TestPairIsTwo(t *testing.T) {
	NoLeaks(t)
	a, b := Pair(t)
	names := map[string]bool{}
	for _, ns := range []*sys.NetNS{a, b} {
		err := ns.Do(func() error {
			name, err := os.Readlink("/proc/thread-self/ns/net")
			names[name] = true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 2 || names[home] {
		t.Errorf("namespaces %v, home %s", names, home)
	}
}
