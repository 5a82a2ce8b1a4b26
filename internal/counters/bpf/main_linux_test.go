package bpf

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/sys"
)

// Roles of processes that tests start: one that counts until it is killed, and
// one whose threads wake each other.
const (
	roleCount = "__count"
	roleWake  = "__wake"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m, dispatch)) }

func dispatch(args []string) (status int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	var err error
	switch args[0] {
	case roleCount:
		err = countUntilKilled()
	case roleWake:
		err = wakeEachOther(wakes)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// countUntilKilled tells the numbers of its programs.
func countUntilKilled() error {
	c, err := Open()
	if err != nil {
		return err
	}
	ids, err := c.ids()
	if err != nil {
		return err
	}
	fmt.Println(len(ids))
	for _, id := range ids {
		fmt.Println(id)
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// wakes is how many round trips tests have threads do.
const wakes = 2000

// wakeEachOther has two threads pass a byte to and fro by pipes.
func wakeEachOther(trips int) error {
	var there, back [2]int
	if err := unix.Pipe2(there[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer closeBoth(there)
	if err := unix.Pipe2(back[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer closeBoth(back)
	return passBack(there[1], back[0], there[0], back[1], trips, nil)
}

func closeBoth(fds [2]int) {
	unix.Close(fds[0])
	unix.Close(fds[1])
}

// passBack has one thread write a message and wait for it to come back, and
// another send it back, so many times.
func passBack(out, in, farIn, farOut, trips int, to unix.Sockaddr) error {
	send := func(fd int, b []byte) error {
		if to != nil {
			return unix.Sendto(fd, b, 0, to)
		}
		_, err := unix.Write(fd, b)
		return err
	}
	far := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		b := make([]byte, 1)
		for range trips {
			n, from, err := receive(farIn, b, to != nil)
			if err == nil && from != nil {
				err = unix.Sendto(farOut, b[:n], 0, from)
			} else if err == nil {
				_, err = unix.Write(farOut, b[:n])
			}
			if err != nil {
				far <- err
				return
			}
		}
		far <- nil
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := make([]byte, 1)
	for range trips {
		if err := send(out, b); err != nil {
			return err
		}
		if _, _, err := receive(in, b, to != nil); err != nil {
			return err
		}
	}
	return <-far
}

func receive(fd int, b []byte, socket bool) (n int, from unix.Sockaddr, err error) {
	for {
		if socket {
			n, from, err = unix.Recvfrom(fd, b, 0)
		} else {
			n, err = unix.Read(fd, b)
		}
		if err != unix.EINTR {
			return n, from, err
		}
	}
}

// counter opens a counter that is closed when the test ends.
func counter(t testing.TB) *Counter {
	t.Helper()
	c, err := Open()
	if err != nil {
		labtest.Skip(t, err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *Counter) ids() (ids []uint32, err error) {
	for _, p := range c.coll.Programs {
		info, err := p.Info()
		if err != nil {
			return nil, err
		}
		id, ok := info.ID()
		if !ok {
			return nil, fmt.Errorf("%s has no number", p)
		}
		ids = append(ids, uint32(id))
	}
	return ids, nil
}

// look reads a counter.
func look(t testing.TB, c *Counter) (cpus []CPU, at int64) {
	t.Helper()
	cpus, at, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	return cpus, at
}

// path is a UDP socket in each of two namespaces joined by veth.
type path struct {
	fds [2]int
	far unix.Sockaddr
}

func newPath(t testing.TB) *path {
	t.Helper()
	lab, link := veth.Pair(t)
	p := &path{}
	for i, end := range []struct {
		ns   *sys.NetNS
		addr netip.Addr
	}{{lab.A.NS, link.AddrA()}, {lab.B.NS, link.AddrB()}} {
		err := end.ns.Do(func() (err error) {
			p.fds[i], err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(p.fds[i]) })
		wait := unix.Timeval{Sec: 10} // a lost message must not hang the test
		if err := unix.SetsockoptTimeval(p.fds[i], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
			t.Fatal(err)
		}
		if err := unix.Bind(p.fds[i], &unix.SockaddrInet4{Addr: end.addr.As4()}); err != nil {
			t.Fatal(err)
		}
	}
	far, err := unix.Getsockname(p.fds[1])
	if err != nil {
		t.Fatal(err)
	}
	p.far = far
	return p
}

// trips has so many round trips pass.
func (p *path) trips(t testing.TB, n int) {
	t.Helper()
	if err := passBack(p.fds[0], p.fds[0], p.fds[1], p.fds[1], n, p.far); err != nil {
		t.Fatal(err)
	}
}
