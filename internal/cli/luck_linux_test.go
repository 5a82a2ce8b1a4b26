package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/cli"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// withDisk runs the test again in a process with mounts of its own, where it
// has a small disk that goes with that process.
func withDisk(t *testing.T, bytes int, test func(t *testing.T, disk string)) {
	t.Helper()
	const mark = "NETDELTA_TEST_DISK"
	if disk := os.Getenv(mark); disk != "" {
		if err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", bytes)); err != nil {
			t.Fatal(err)
		}
		test(t, disk)
		return
	}
	if root, err := sys.HasCapability(unix.CAP_SYS_ADMIN); err != nil || !root {
		labtest.Skip(t, errors.New("mounts of its own take root"))
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in mounts of its own: %v\n%s", err, out)
	}
}

// A store that cannot be written costs no figures: they are measured and
// printed, and that they are not kept is said and is exit 3.
func TestRunWithoutDisk(t *testing.T) {
	withDisk(t, 3<<20, func(t *testing.T, disk string) {
		instead := t.TempDir()
		t.Setenv("TMPDIR", instead)
		x := newTwoHosts(t)
		x.start(t, "--secret-file", x.secret)
		run := func(args ...string) outcome {
			return x.run(t, append([]string{"--test", "udp_rr", "--store", filepath.Join(disk, "store.db")}, args...)...)
		}
		const on = "measuring goes on, and the figures will be printed"
		fill := filepath.Join(disk, "fill")
		check := func(o outcome, says ...string) {
			t.Helper()
			o.want(t, cli.ExitUnmeasured, says...)
			if !strings.Contains(o.stdout, "rtt_p50") || !strings.Contains(o.stdout, ": complete, ") {
				t.Errorf("the figures are not printed:\n%s", o.stdout)
			}
		}
		// Full before there is a store.
		if err := leave(fill, 0); err != nil {
			t.Fatal(err)
		}
		check(run(), "no space left", "the figures above are not kept: ")
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		run("--label", "kept").want(t, cli.ExitDone)
		// Full in the middle: what was acknowledged before is kept.
		if err := leave(fill, 500<<10); err != nil {
			t.Fatal(err)
		}
		check(run("--label", "cut", "--trials", "30"), on, "; the whole run is in "+instead)
		o := in(t, x.lab.A.NS, "runs", "--store", filepath.Join(disk, "store.db"))
		o.want(t, cli.ExitDone)
		if !strings.Contains(o.stdout, " cut ") || !strings.Contains(o.stdout, " partial ") || strings.Contains(o.stdout, " 30\n") {
			t.Errorf("listed:\n%s", o.stdout)
		}
		// Read-only.
		if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		check(run(), on, "the figures above are not kept: ")
		in(t, x.lab.A.NS, "show", "kept", "--store", filepath.Join(disk, "store.db")).want(t, cli.ExitDone)
		in(t, x.lab.A.NS, "rm", "kept", "--store", filepath.Join(disk, "store.db")).want(t, cli.ExitUnmeasured, "can't be written")
		check(x.run(t, "--test", "udp_rr", "--store", filepath.Join(disk, "new.db")), on, "the figures above are not kept: ")
		// What the store did not take is in files, whole.
		files, err := filepath.Glob(filepath.Join(instead, "netdelta-*.json"))
		if err != nil || len(files) != 4 {
			t.Fatalf("files in the store's place: %v, %v, want 4", files, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			run, trials, err := result.DecodeExport(data)
			if err != nil || len(trials) != run.Plan.Trials() {
				t.Errorf("%s: %d trials of %d, %v", name, len(trials), run.Plan.Trials(), err)
			}
		}
	})
}

// leave fills the disk but for so many bytes.
func leave(fill string, bytes int64) error {
	f, err := os.Create(fill)
	if err != nil {
		return err
	}
	defer f.Close()
	size := int64(0)
	for {
		n, err := f.Write(make([]byte, 4096))
		if size += int64(n); errors.Is(err, unix.ENOSPC) {
			return f.Truncate(size - bytes)
		} else if err != nil {
			return err
		}
	}
}

// A link that is cut for ten seconds in a trial costs that trial's first
// attempt, and the run goes on.
func TestLinkCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr,tcp_stream", "--time", "1s", "--trials", "3", "--label", "cut")...)
	x.await(t, func(trials float64) bool { return trials >= 1 })
	ip(t, x.lab.B.NS, "link", "set", x.lab.B.Device, "down")
	time.Sleep(10 * time.Second) // the cut itself
	ip(t, x.lab.B.NS, "link", "set", x.lab.B.Device, "up")
	o := b.wait(t)
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, ": complete, 6") || !strings.Contains(o.stdout, "a first attempt at the trial failed") {
		t.Errorf("got\n%s", o.stdout)
	}
}

// A host whose address changes in the middle of a run goes on from its new
// one, and says so.
func TestAddressChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds")
	}
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--time", "500ms", "--trials", "5", "--label", "moved")...)
	x.await(t, func(trials float64) bool { return trials >= 1 })
	ip(t, x.lab.A.NS, "address", "add", "192.0.2.7/24", "dev", x.lab.A.Device)
	ip(t, x.lab.A.NS, "address", "delete", "192.0.2.1/24", "dev", x.lab.A.Device)
	ip(t, x.lab.A.NS, "address", "replace", "192.0.2.7/24", "dev", x.lab.A.Device)
	o := b.wait(t)
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, "the way to the remote end now begins at 192.0.2.7") {
		t.Errorf("got\n%s", o.stdout)
	}
}
