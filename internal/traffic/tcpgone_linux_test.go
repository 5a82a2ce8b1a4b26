//go:build !portable

package traffic

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// tcpStreams are the streams of every direction, on one and several flows.
var tcpStreams = map[string]trial{
	"stream":             {test: "tcp_stream"},
	"maerts":             {test: "tcp_maerts"},
	"bidir":              {test: "tcp_bidir"},
	"stream, paced":      {test: "tcp_stream", params: spec.Params{Rate: 1000}},
	"maerts, paced":      {test: "tcp_maerts", params: spec.Params{Rate: 1000}},
	"stream, flows":      {test: "tcp_stream", params: spec.Params{Flows: 4}},
	"maerts, flows":      {test: "tcp_maerts", params: spec.Params{Flows: 4}},
	"stream, of threads": {test: "tcp_stream", params: spec.Params{Flows: 2, Threads: 2}},
	"maerts, of threads": {test: "tcp_maerts", params: spec.Params{Flows: 2, Threads: 2}},
}

// eachStream runs a subtest on each of them, side by side.
func eachStream(t *testing.T, f func(t *testing.T, tr trial)) {
	t.Parallel()
	for name, tr := range tcpStreams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr.addr = loopbacks["ipv4"]
			tr.warmup, tr.window = testWarmup, testWindow
			f(t, tr)
		})
	}
}

const slackTime = 2 * time.Second // of a machine that is busy otherwise

// TestTCPStreamNobodyComes stops remote ends that no local end has talked to.
func TestTCPStreamNobodyComes(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		e, _ := tr.engine(t, result.Remote)
		if err := e.Arm(netip.AddrPortFrom(tr.addr, 9)); err != nil {
			t.Fatal(err)
		}
		done := start(e)
		e.Stop()
		if end := finish(t, done); end.Messages != 0 || end.Bytes != 0 || end.Elapsed != 0 || !warned(end, WarnNoTraffic) {
			t.Errorf("figures without traffic: %+v", end)
		}
	})
}

// TestTCPStreamNobodyRuns stops remote ends whose local end has connected and
// does nothing.
func TestTCPStreamNobodyRuns(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		_, remote := tr.ends(t)
		done := start(remote)
		remote.Stop()
		if end := finish(t, done); end.Bytes != 0 || !warned(end, WarnNoTraffic) {
			t.Errorf("figures without traffic: %+v", end)
		}
	})
}

// TestTCPStreamPeerIdle runs local ends whose peer neither reads nor sends: they
// end by themselves.
func TestTCPStreamPeerIdle(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		local, _ := tr.ends(t)
		began := time.Now()
		end := finish(t, start(local))
		if took := time.Since(began); took > tr.warmup+tr.window+drainTime+hangUpTime+slackTime {
			t.Errorf("took %v", took)
		}
		if tr.test == "tcp_maerts" && (!warned(end, WarnNoTraffic) || end.Bytes != 0) {
			t.Errorf("figures without traffic: %+v", end)
		}
	})
}

// TestTCPStreamPeerCloses has the remote end go while the local one carries
// traffic, which is one line of an error.
func TestTCPStreamPeerCloses(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		tr.window = 10 * time.Second
		local, remote := tr.ends(t)
		done := start(local)
		if err := remote.Close(); err != nil {
			t.Fatal(err)
		}
		o := wait(t, done)
		if o.err == nil {
			t.Fatalf("no error: %+v", o.end)
		}
		if text := o.err.Error(); !strings.Contains(text, "closed the connection") || strings.Contains(text, "\n") {
			t.Errorf("error %q", text)
		}
	})
}

// TestTCPStreamLocalResets has a local end go without a word: the remote one
// ends by itself, without an error.
func TestTCPStreamLocalResets(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		local, remote := tr.ends(t)
		done := start(remote)
		for _, c := range local.(*tcpLocal).conns {
			if err := c.ask(&Config{}); err != nil { // one byte of a stream, or the request for one
				t.Fatal(err)
			}
			c.dropOnClose()
			if err := c.close(); err != nil {
				t.Fatal(err)
			}
		}
		end := finish(t, done)
		if err := end.Validate(); err != nil {
			t.Error(err)
		}
	})
}

// TestTCPStreamReaderStops has local ends that ask for a stream and read none
// of it, until Stop.
func TestTCPStreamReaderStops(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		if tr.test != "tcp_maerts" {
			return
		}
		local, remote := tr.ends(t)
		remoteDone := start(remote)
		for _, c := range local.(*tcpLocal).conns {
			if err := c.ask(&Config{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range local.(*tcpLocal).conns {
			if ready, err := sys.WaitReady(int(c.Sock), unix.POLLIN, int64(5*time.Second)); !ready { // something has come
				t.Fatal(err)
			}
		}
		remote.Stop()
		if end := finish(t, remoteDone); warned(end, WarnNoTraffic) {
			t.Errorf("%+v", end)
		}
	})
}

// TestTCPStreamSenderStops has senders that fall silent in the midst of the
// window: the receiver at the local end ends by itself and says so.
func TestTCPStreamSenderStops(t *testing.T) {
	for _, flows := range []int{1, 2} {
		t.Run(fmt.Sprint(flows), func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			const some = 10000
			ended := make(chan error, flows)
			for range flows {
				go func() {
					ended <- func() error {
						c, err := l.Accept()
						if err != nil {
							return err
						}
						defer c.Close()
						if _, err = c.Read(make([]byte, 1)); err == nil {
							_, err = c.Write(make([]byte, some))
						}
						io.Copy(io.Discard, c) // until the other end goes
						return err
					}()
				}()
			}
			tr := trial{test: "tcp_maerts", addr: loopbacks["ipv4"], params: spec.Params{Flows: flows}, window: 10 * testWindow}
			e, _ := tr.engine(t, result.Local)
			if err := e.Arm(netip.MustParseAddrPort(l.Addr().String())); err != nil {
				t.Fatal(err)
			}
			end := finish(t, start(e))
			if !warned(end, WarnShortWindow) || end.Bytes > int64(flows)*some {
				t.Errorf("%+v", end)
			}
			for range flows {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestTCPStreamStopDuringTraffic ends a remote end whose local end goes on.
func TestTCPStreamStopDuringTraffic(t *testing.T) {
	eachStream(t, func(t *testing.T, tr trial) {
		tr.window = 400 * time.Millisecond
		local, remote := tr.ends(t)
		if all, err := remote.(*tcpRemote).accepted.wait(); !all {
			t.Fatal(err)
		}
		localDone, remoteDone := start(local), start(remote)
		remote.Stop()
		began := time.Now()
		finish(t, remoteDone)
		if took := time.Since(began); took > drainTime+slackTime {
			t.Errorf("took %v to stop", took)
		}
		if err := remote.Close(); err != nil { // and with it what the local end would wait for
			t.Error(err)
		}
		wait(t, localDone) // an error where the connection has gone
	})
}
