package traffic

import (
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// TestCRRFaultyPeers connects to peers that do what no remote end does.
func TestCRRFaultyPeers(t *testing.T) {
	const size = 100
	request := make([]byte, size)
	for _, c := range []struct {
		name   string
		serve  func(*net.TCPConn)
		want   string // part of the warning about connections that failed
		finish bool   // whether connections end
	}{
		{"resets", func(c *net.TCPConn) {
			io.ReadFull(c, make([]byte, size))
			c.SetLinger(0)
			c.Close()
		}, "before the response was through", true},
		{"resets after the response", func(c *net.TCPConn) {
			io.ReadFull(c, make([]byte, 1)) // what is left unread makes it a reset
			c.Write(request)
			c.Close()
		}, "connection reset by peer", true},
		{"half a response", func(c *net.TCPConn) {
			io.ReadFull(c, make([]byte, size))
			c.Write(request[:size/2])
			c.Close()
		}, "before the response was through", true},
		{"more than the response", func(c *net.TCPConn) {
			io.ReadFull(c, make([]byte, size))
			c.Write(slices.Concat(request, request[:1]))
			c.Close()
		}, "more than the response", true},
		{"no response", func(c *net.TCPConn) { io.Copy(io.Discard, c) }, "", false},
		{"no end", func(c *net.TCPConn) {
			c.Write(request)
			io.Copy(io.Discard, c)
		}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			at := serveTCP(t, func(conn *net.TCPConn) { c.serve(conn) })
			local, _ := trial{test: "tcp_crr", params: spec.Params{Size: size}, addr: loopbacks["ipv4"], window: 2 * testWindow}.engine(t, result.Local)
			if err := local.Arm(at); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			end := finish(t, start(local))
			if took := time.Since(began); took > 2*testWindow+unfinishedTime+5*time.Second {
				t.Errorf("took %v", took)
			}
			if !warned(end, WarnNoTraffic) || end.Messages != 0 || end.RTT.Count() != 0 {
				t.Errorf("%d messages, warnings %v", end.Messages, end.Warnings)
			}
			if !c.finish {
				if !warned(end, WarnUnfinished) || warned(end, WarnFailed) || end.Counts[CountFailed] != 0 || end.Counts[CountSent] != 1 {
					t.Errorf("a connection that never ends: %v, %v", end.Counts, end.Warnings)
				}
				return
			}
			if end.Counts[CountFailed] == 0 || !warned(end, WarnFailed) {
				t.Errorf("%v, warnings %v", end.Counts, end.Warnings)
			}
			for _, w := range end.Warnings {
				if w.Code == WarnFailed && !strings.Contains(w.Text, c.want) {
					t.Errorf("warning %q, want %q in it", w.Text, c.want)
				}
			}
		})
	}
}

// serveTCP has each connection to the address that it returns served, until the
// test ends.
func serveTCP(t *testing.T, serve func(*net.TCPConn)) netip.AddrPort {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(loopbacks["ipv4"], 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return
			}
			go func() {
				serve(c)
				c.Close()
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// Connections that break off cost the remote end no more than a count, and one
// that ends before it began not even that.
func TestCRRFaultyCaller(t *testing.T) {
	const size = 100
	tr := trial{test: "tcp_crr", params: spec.Params{Size: size}, addr: loopbacks["ipv4"], window: time.Minute}
	remote, at := tr.engine(t, result.Remote)
	if err := remote.Arm(netip.AddrPortFrom(tr.addr, 0)); err != nil {
		t.Fatal(err)
	}
	done := start(remote)
	call := func(n int, reset bool) {
		t.Helper()
		c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n > 0 {
			if _, err := c.Write(make([]byte, n)); err != nil {
				t.Fatal(err)
			}
		}
		if reset {
			c.SetLinger(0)
			return
		}
		c.CloseWrite()
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		got, err := io.ReadAll(c)
		if want := map[bool]int{true: size}[n == size]; err != nil || len(got) != want {
			t.Errorf("of %d bytes: %d answered, %v", n, len(got), err)
		}
	}
	call(size, false)    // opens the window
	call(0, false)       // ends before it began
	call(0, true)        // the same
	call(size/2, false)  // breaks off
	call(size, false)    // is whole
	call(size-1, true)   // breaks off, or is gone before it is accepted
	call(size, false)    // is whole
	call(size/2-1, true) // is under way, perhaps, at the end
	remote.Stop()
	end := finish(t, done)
	if end.Messages != 2 || end.Counts[CountFailed] < 1 || end.Counts[CountFailed] > 3 {
		t.Errorf("%d messages, %v", end.Messages, end.Counts)
	}
}

// TestCRRLookEnds: the connection by which Arm looks whether there is anybody
// ends, so that it is noticed also where the reset that follows is lost.
func TestCRRLookEnds(t *testing.T) {
	ended := make(chan error, 1)
	at := serveTCP(t, func(c *net.TCPConn) {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	})
	local, _ := trial{test: "tcp_crr", addr: loopbacks["ipv4"], window: testWindow}.engine(t, result.Local)
	if err := local.Arm(at); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != io.EOF {
		t.Errorf("it ends with %v", err)
	}
}

// TestCRRSilentConnection has one before all others that brings nothing and
// does not end.
func TestCRRSilentConnection(t *testing.T) {
	t.Parallel()
	tr := trial{test: "tcp_crr", addr: loopbacks["ipv4"], window: crrFirstByte + time.Second}
	remote, at := tr.engine(t, result.Remote)
	if err := remote.Arm(netip.AddrPortFrom(tr.addr, 0)); err != nil {
		t.Fatal(err)
	}
	silent, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	local, _ := tr.engine(t, result.Local)
	if err := local.Arm(at); err != nil {
		t.Fatal(err)
	}
	remoteDone := start(remote)
	end := finish(t, start(local))
	remote.Stop()
	if r := finish(t, remoteDone); end.Messages == 0 || r.Counts[CountFailed] != 0 {
		t.Errorf("%d messages, %v, %v", end.Messages, end.Warnings, r.Counts)
	}
}

// TestCRRQuietWarmup opens the window while no connection comes: what failed
// before is not of it.
func TestCRRQuietWarmup(t *testing.T) {
	remote, _ := trial{test: "tcp_crr", addr: loopbacks["ipv4"], warmup: time.Nanosecond, window: time.Minute}.engine(t, result.Remote)
	a := remote.(*crrRemote).answerers[0]
	a.meter.event(1, 1, sys.Nanotime()-1000)
	a.failed = 3
	if err := a.none(unix.EAGAIN); err != nil || a.meter.phase != open || a.failed != 0 {
		t.Errorf("phase %d, %d failed, %v", a.meter.phase, a.failed, err)
	}
}
