package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdelta/internal/sys"
)

// outcome is what became of a command.
type outcome struct {
	status         int
	stdout, stderr string
}

// command prepares netdelta as a process of its own.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command("netdelta", args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// in runs netdelta in a network namespace to its end.
func in(t *testing.T, ns *sys.NetNS, args ...string) outcome {
	t.Helper()
	return begin(t, ns, args...).wait(t)
}

// begun is a netdelta that is running.
type begun struct {
	*exec.Cmd
	out, err bytes.Buffer
}

func begin(t *testing.T, ns *sys.NetNS, args ...string) *begun {
	t.Helper()
	b := &begun{Cmd: command(args...)}
	b.Stdout, b.Stderr = &b.out, &b.err
	if err := ns.Start(b.Cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if b.ProcessState == nil {
			b.Process.Kill()
			b.Wait()
		}
	})
	return b
}

func (b *begun) wait(t *testing.T) outcome {
	t.Helper()
	late := time.AfterFunc(2*time.Minute, func() { b.Process.Kill() })
	defer late.Stop()
	b.Wait() // its outcome is in ProcessState
	return outcome{b.ProcessState.ExitCode(), b.out.String(), b.err.String()}
}

// want checks an exit status, and that every line on standard error is of the
// program's and says one of some things, in their order.
func (o outcome) want(t *testing.T, status int, says ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("exit status %d, want %d\n%s%s", o.status, status, o.stdout, o.stderr)
	}
	lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
	if o.stderr == "" {
		lines = nil
	}
	if len(lines) != len(says) {
		t.Errorf("%d lines on standard error, want %d:\n%s", len(lines), len(says), o.stderr)
		return
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "netdelta: ") || !strings.Contains(line, says[i]) {
			t.Errorf("got %q, want %q in it", line, says[i])
		}
	}
}

// run measures from a to b with short trials.
func (x *twoHosts) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return in(t, x.lab.A.NS, x.runArgs(args...)...)
}

func (x *twoHosts) runArgs(args ...string) []string {
	all := []string{"run", x.link.AddrB().String(), "--secret-file", x.secret, "--time", "50ms", "--warmup", "10ms", "--store", x.store(), "--trials", "2"}
	return append(all, args...)
}

func (x *twoHosts) store() string { return filepath.Join(filepath.Dir(x.secret), "store.db") }

// kept runs a command on the store.
func (x *twoHosts) kept(t *testing.T, args ...string) outcome {
	t.Helper()
	return in(t, x.lab.A.NS, append(args, "--store", x.store())...)
}

// listed is the store's runs.
func (x *twoHosts) listed(t *testing.T) []map[string]any {
	t.Helper()
	var list struct {
		Runs []map[string]any `json:"runs"`
	}
	o := x.kept(t, "runs", "--format", "json")
	if err := json.Unmarshal([]byte(o.stdout), &list); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	return list.Runs
}

// ip runs iproute2's command in a network namespace.
func ip(t *testing.T, ns *sys.NetNS, args ...string) {
	t.Helper()
	cmd := exec.Command("ip", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := ns.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out.String())
	}
}
