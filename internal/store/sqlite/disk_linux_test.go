package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/storetest"
	"netdelta/internal/sys"
)

// withDisk runs a test in a process with mounts of its own, on a disk of so
// many bytes that is there for that process only.
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
		labtest.Skip(t, errors.New("mounts of its own take root or user namespaces"))
	}
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in mounts of its own: %v\n%s", err, out)
	}
}

// fill takes all the space that is left, and returns how to give it back.
func fill(t *testing.T, disk, name string) (free func()) {
	t.Helper()
	name = filepath.Join(disk, name)
	f, err := os.Create(name)
	must(t, err)
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte{1}, size)); err != nil {
			size /= 2
		}
	}
	f.Close()
	return func() { must(t, os.Remove(name)) }
}

func TestFullDisk(t *testing.T) {
	withDisk(t, 2<<20, func(t *testing.T, disk string) {
		path := filepath.Join(disk, "s.db")
		s := openAt(t, path)
		run := storetest.Begin(t, s, "old", 0)
		free := fill(t, disk, "ballast")
		kept := 0
		var err error
		for err == nil && kept < 10_000 {
			if err = s.Append(t.Context(), run.ID, storetest.NewTrial(kept)); err == nil {
				kept++
			}
		}
		full(t, "append", err)
		full(t, "begin", s.Begin(t.Context(), storetest.NewRun("x", 0)))
		full(t, "append again", s.Append(t.Context(), run.ID, storetest.NewTrials(kept, kept+99)...))
		storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, kept))

		_, err = Open(t.Context(), filepath.Join(disk, "another.db"), Options{})
		full(t, "open another", err)

		// It can still be opened and read: beside the open one, after it, and
		// when not even the index of a log has room.
		var readOnly error
		for _, prepare := range []func(){
			func() {},
			func() { must(t, s.Close()) },
			func() { fill(t, disk, "more ballast") },
		} {
			prepare()
			other, err := Open(t.Context(), path, Options{})
			must(t, err)
			readOnly = other.ReadOnly()
			storetest.CheckTrials(t, other, run.ID, storetest.NewTrials(0, kept))
			full(t, "append to it opened again", other.Append(t.Context(), run.ID, storetest.NewTrials(kept, kept+99)...))
			must(t, other.Close())
		}
		full(t, "being opened without any room", readOnly)

		free()
		s = openAt(t, path)
		storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, kept))
		must(t, s.Append(t.Context(), run.ID, storetest.NewTrial(kept)))
		must(t, s.Finish(t.Context(), run.ID, result.Complete, run.Start, nil))
		storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, kept+1))
	})
}

func TestDiskFullAndThenNot(t *testing.T) {
	withDisk(t, 2<<20, func(t *testing.T, disk string) {
		s := openAt(t, filepath.Join(disk, "s.db"))
		run := storetest.Begin(t, s, "old", 0)
		kept := 0
		for range 3 {
			free := fill(t, disk, "ballast")
			for {
				if err := s.Append(t.Context(), run.ID, storetest.NewTrial(kept)); err != nil {
					full(t, "append", err)
					break
				}
				kept++
			}
			free()
			must(t, s.Append(t.Context(), run.ID, storetest.NewTrial(kept)))
			kept++
			storetest.CheckTrials(t, s, run.ID, storetest.NewTrials(0, kept))
		}
	})
}

func full(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: got %v, want ErrFull in a line", what, err)
	}
}

func TestReadOnlyFileSystem(t *testing.T) {
	withDisk(t, 8<<20, func(t *testing.T, disk string) {
		path := filepath.Join(disk, "s.db")
		s := openAt(t, path)
		run := storetest.Begin(t, s, "old", 0)
		must(t, s.Append(t.Context(), run.ID, storetest.NewTrials(0, 10)...))
		must(t, s.Close())
		must(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		if err := readOnlyRole([]string{path}); err != nil {
			t.Error(err)
		}
		if _, err := Open(t.Context(), filepath.Join(disk, "new.db"), Options{}); !errors.Is(err, store.ErrReadOnly) ||
			!strings.Contains(err.Error(), "make the file and its directory writable") {
			t.Errorf("got %v, want ErrReadOnly", err)
		}
	})
}

// A store whose process was killed has trials in its log alone. Where that
// can't be put in order, it must not seem that they are not there.
func TestReadOnlyFileSystemAfterAKill(t *testing.T) {
	withDisk(t, 8<<20, func(t *testing.T, disk string) {
		path := filepath.Join(disk, "s.db")
		cmd, out := child(t, "__append", path, "1000000", "2")
		for range 6 {
			out.Scan()
		}
		must(t, cmd.Process.Kill())
		for out.Scan() {
		}
		cmd.Wait()
		for _, index := range []bool{true, false} {
			must(t, unix.Mount("", disk, "", unix.MS_REMOUNT, ""))
			if !index {
				must(t, os.Remove(path+"-shm"))
			}
			must(t, unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				if !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("got %v, want ErrReadOnly", err)
				}
				continue
			}
			runs, err := s.Find(t.Context(), "child")
			if err != nil || len(runs) != 1 {
				t.Errorf("opened, and the runs are %v, %v", runs, err)
			}
			if trials, err := store.Collect(t.Context(), s, runs[0].ID); err != nil || len(trials) < 7 {
				t.Errorf("opened, and %d trials are there, %v", len(trials), err)
			}
			must(t, s.Close())
		}
	})
}

// As an ordinary user, in a directory that belongs to someone else.
func TestReadOnlyDirectory(t *testing.T) {
	path := newPath(t)
	s := openAt(t, path)
	run := storetest.Begin(t, s, "old", 0)
	must(t, s.Append(t.Context(), run.ID, storetest.NewTrials(0, 10)...))
	must(t, s.Close())
	dir := filepath.Dir(path)
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	for _, c := range []struct {
		name string
		dir  os.FileMode
		mode os.FileMode
		path string
		want string
	}{
		{"the file could be written", 0o500, 0o600, path, "read 10\n"},
		{"nor can the file", 0o500, 0o400, path, "read 10\n"},
		{"only the file can't", 0o700, 0o400, path, "read 10\n"},
		{"nor can it be read", 0o500, 0, path, "can't be written"},
		{"the file can't even be read", 0o700, 0, path, "can't be written"},
		{"nor can the directory", 0, 0o600, path, "can't be written"},
		{"no store yet", 0o500, 0o600, filepath.Join(dir, "new.db"), "make the file and its directory writable"},
	} {
		must(t, os.Chmod(dir, 0o700))
		must(t, os.Chmod(path, c.mode))
		must(t, os.Chmod(dir, c.dir))
		out, err := withoutPrivilege(t, "__readonly", c.path)
		if (err == nil) != strings.HasPrefix(c.want, "read") || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v: %s; want %q", c.name, err, out, c.want)
		}
	}
}

// withoutPrivilege runs a role as the same user without root's power over
// permissions: an ordinary user of a user namespace has no capabilities.
func withoutPrivilege(t *testing.T, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
