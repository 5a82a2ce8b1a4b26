package worker

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// TestSurroundings looks at a worker from outside.
func TestSurroundings(t *testing.T) {
	labtest.NoLeaks(t)
	t.Setenv("GODEBUG", "panicnil=0")
	t.Setenv("GOGC", "50")
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := loopbackConfig("udp_rr", result.Remote, window)
	cfg.CPU = cpus[len(cpus)-1]
	w, _ := ready(t, nil, cfg)
	proc := filepath.Join("/proc", strconv.Itoa(w.PID()))

	env, err := os.ReadFile(filepath.Join(proc, "environ"))
	if err != nil {
		t.Fatal(err)
	}
	vars := strings.Split(strings.TrimRight(string(env), "\x00"), "\x00")
	for _, want := range []string{"GODEBUG=panicnil=0,asyncpreemptoff=1", "GOGC=off", "GOMEMLIMIT=off", fmt.Sprintf("GOMAXPROCS=%d", procs)} {
		if !slices.Contains(vars, want) {
			t.Errorf("the worker's environment lacks %s", want)
		}
	}

	threads, err := filepath.Glob(filepath.Join(proc, "task/*/status"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for _, name := range threads {
		if field(t, name, "Cpus_allowed_list") == strconv.Itoa(cfg.CPU) {
			pinned++
		}
	}
	if want := 1; len(cpus) > 1 && pinned != want {
		t.Errorf("%d of %d threads are bound to CPU %d, want %d", pinned, len(threads), cfg.CPU, want)
	}
	locked := field(t, filepath.Join(proc, "status"), "VmLck")
	if err := w.Arm(t.Context(), netip.AddrPortFrom(loopback, 9)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	end, err := w.Drain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := slices.ContainsFunc(end.Warnings, func(w result.Warning) bool { return w.Code == WarnMlock })
	if (locked == "0 kB") != refused {
		t.Errorf("%s of memory are locked, but the warnings are %v", locked, end.Warnings)
	}
}

// field reads a field of a status file of proc(5).
func field(t *testing.T, file, name string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("%s has no %s", file, name)
	return ""
}

// TestMainByHand starts the role as a user might.
func TestMainByHand(t *testing.T) {
	for _, args := range [][]string{nil, {"-h"}} {
		cmd, err := sys.Reexec(sys.RoleWorker, args...)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = nil
		out, err := cmd.CombinedOutput()
		if err == nil || len(out) == 0 {
			t.Errorf("arguments %q: error %v, output %q", args, err, out)
		}
	}
}
