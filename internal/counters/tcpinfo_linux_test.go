package counters

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
)

// connections makes so many TCP connections from host a to host b, until the
// test ends, and returns a listening socket too.
func connections(t testing.TB, lab *netlab.Lab, link *netlab.Link, n int) (from, to []int, listener int) {
	t.Helper()
	listener = socketAt(t, lab.B, unix.SOCK_STREAM, link.AddrB())
	if err := unix.Listen(listener, 1); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(listener)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		a := socketAt(t, lab.A, unix.SOCK_STREAM, link.AddrA())
		if err := unix.Connect(a, sa); err != nil {
			t.Fatal(err)
		}
		b, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(b) })
		from, to = append(from, a), append(to, b)
	}
	return from, to, listener
}

// transfer sends so many bytes and receives them.
func transfer(t testing.TB, from, to, bytes int) {
	t.Helper()
	for sent := 0; sent < bytes; {
		n, err := unix.Write(from, make([]byte, min(bytes-sent, 16<<10)))
		if err != nil {
			t.Fatal(err)
		}
		for got := 0; got < n; {
			m, err := unix.Read(to, make([]byte, 64<<10))
			if err != nil && err != unix.EAGAIN {
				t.Fatal(err)
			}
			got += max(m, 0)
		}
		sent += n
	}
}

// The sums are those of all connections and of nothing else that was told of.
func TestTCPInfoSums(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to, listener := connections(t, lab, link, 3)
	udp := socketAt(t, lab.B, unix.SOCK_DGRAM, link.AddrB())
	idle := socketAt(t, lab.A, unix.SOCK_STREAM, link.AddrA())
	sending := openAt(t, lab.A, &Options{sockets: told(append(from, idle)...)}, openTCPInfo)
	receiving := openAt(t, lab.B, &Options{sockets: told(append(to, udp, listener)...)}, openTCPInfo)
	out, in := sampleOf(t, sending), sampleOf(t, receiving)

	const unit = 100_000
	for i := range from {
		transfer(t, from[i], to[i], (i+1)*unit)
	}
	const all = (1 + 2 + 3) * unit
	var o = between(t, out, sampleOf(t, sending))
	eventually(t, "all is acknowledged", func() bool {
		o = between(t, out, sampleOf(t, sending))
		return o.Counts["bytes_acked"] == all
	})
	i := between(t, in, sampleOf(t, receiving))
	if o.Counts["bytes_sent"]-o.Counts["bytes_retransmitted"] != all || i.Counts["bytes_received"] != all {
		t.Errorf("%d bytes: sent %v, received %v", all, o.Counts, i.Counts)
	}
	if o.Counts["data_segs_out"] < 6 || o.Counts["segs_in"] == 0 || o.Counts["delivered"] == 0 || i.Counts["data_segs_in"] < 6 {
		t.Errorf("segments: sent %v, received %v", o.Counts, i.Counts)
	}
	for n := range from {
		if name := fmt.Sprintf("flow%d.bytes_acked", n); o.Counts[name] != int64(n+1)*unit {
			t.Errorf("%s is %d", name, o.Counts[name])
		}
	}
	l := o.Levels
	if l["flows"] != 3 || l["rtt_ns"] == 0 || l["rtt_max_ns"] < l["rtt_ns"] || l["min_rtt_ns"] == 0 || l["cwnd"] < 2 || l["mss"] != 1448 || l["pmtu"] != 1500 || l["snd_wnd"] == 0 {
		t.Errorf("levels %v", l)
	}
	if _, lost := l["ssthresh"]; lost && o.Counts["retransmits"] == 0 && l["ssthresh"] >= noSSThresh {
		t.Errorf("a threshold that was never set: %v", l)
	}
	if i.Levels["flows"] != 3 {
		t.Errorf("received by %v", i.Levels)
	}
}

// A sender whose peer does not read is limited by that, and for that long.
func TestTCPInfoLimited(t *testing.T) {
	lab, link := veth.Pair(t)
	from, _, _ := connections(t, lab, link, 1)
	s := openAt(t, lab.A, &Options{sockets: told(from...)}, openTCPInfo)
	before := sampleOf(t, s)
	const blocked = 60 * time.Millisecond
	limit := unix.NsecToTimeval(int64(blocked))
	if err := unix.SetsockoptTimeval(from[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for err := error(nil); err != unix.EAGAIN; {
		if _, err = unix.Write(from[0], make([]byte, 64<<10)); err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
	}
	r := between(t, before, sampleOf(t, s))
	took := int64(time.Since(start))
	for _, name := range []string{"busy_ns", "rwnd_limited_ns"} {
		// The kernel counts them in ticks, of 10 ms at most.
		if n := r.Counts[name]; n < int64(blocked)-20e6 || n > took+10e6 {
			t.Errorf("blocked for %v: %s %v in %v", blocked, name, time.Duration(n), time.Duration(took))
		}
	}
}

// A connection that the peer has ended keeps its counters; one that was closed
// here is gone, and is in no figure.
func TestTCPInfoOfConnectionsThatEnd(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to, _ := connections(t, lab, link, 2)
	s := openAt(t, lab.B, &Options{sockets: told(to...)}, openTCPInfo)
	taken := func() *sample {
		x, err := s.take()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	before, first := taken(), taken()
	const bytes = 1000
	for i := range from {
		transfer(t, from[i], to[i], bytes)
	}
	if err := unix.Shutdown(to[0], unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if err := unix.Shutdown(from[0], unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the connection ends", func() bool {
		info, err := unix.GetsockoptTCPInfo(to[0], unix.IPPROTO_TCP, unix.TCP_INFO)
		return err == nil && info.State == tcpClose
	})
	if r := between(t, before, taken()); r.Counts["bytes_received"] < 2*bytes || r.Levels["flows"] != 2 {
		t.Errorf("two of %d bytes: %v %v", bytes, r.Counts, r.Levels)
	}
	// The number is another connection's from now on.
	if err := unix.Dup2(to[1], to[0]); err != nil {
		t.Fatal(err)
	}
	transfer(t, from[1], to[1], bytes)
	r := between(t, first, taken())
	if r.Counts["flow1.bytes_received"] != 2*bytes || r.Counts["bytes_received"] != 2*bytes || r.Counts["flow0.bytes_received"] != 0 || r.Levels["gone"] != 1 || r.Levels["flows"] != 1 {
		t.Errorf("one of %d bytes is gone, one has %d: %v %v", bytes, 2*bytes, r.Counts, r.Levels)
	}
}

// A connection that comes after the first sample counts from its beginning.
func TestTCPInfoOfLateConnections(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to, _ := connections(t, lab, link, 1)
	o := &Options{sockets: told()}
	s := openAt(t, lab.B, o, openTCPInfo)
	x, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	o.sockets.add(to[0])
	transfer(t, from[0], to[0], 5000)
	after, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	if r := between(t, x, after); r.Counts["bytes_received"] != 5000 || r.Levels["flows"] != 1 {
		t.Errorf("%v %v", r.Counts, r.Levels)
	}
}

// The fields are where the C compiler puts them, and in the order of a kernel
// that knows more and more.
func TestTCPFields(t *testing.T) {
	info := reflect.TypeFor[unix.TCPInfo]()
	names := map[string]string{
		"retransmits": "Total_retrans", "busy_ns": "Busy_time", "rwnd_limited_ns": "Rwnd_limited", "sndbuf_limited_ns": "Sndbuf_limited",
		"bytes_retransmitted": "Bytes_retrans", "reordering_seen": "Reord_seen", "out_of_order": "Rcv_ooopack",
		"mss": "Snd_mss", "rtt_ns": "Rtt", "rttvar_ns": "Rttvar", "ssthresh": "Snd_ssthresh", "cwnd": "Snd_cwnd", "min_rtt_ns": "Min_rtt",
	}
	for _, table := range [][]tcpField{tcpCounts, tcpLevels} {
		last := 0
		for _, f := range table {
			name := names[f.name]
			if name == "" {
				name = strings.ToUpper(f.name[:1]) + f.name[1:]
			}
			if c, there := info.FieldByName(name); !there || int(c.Offset) != f.at || int(c.Type.Size()) != f.size {
				t.Errorf("%s is at %d with %d bytes, %s at %d with %v", f.name, f.at, f.size, name, c.Offset, c.Type)
			}
			if f.at < last || f.at+f.size > tcpInfoBytes {
				t.Errorf("%s at %d comes after %d, or is none of the first %d bytes", f.name, f.at, last, tcpInfoBytes)
			}
			last = f.at
		}
	}
}

// What an older kernel does not fill is absent, not zero.
func TestTCPInfoOfAnOldKernel(t *testing.T) {
	lab, link := veth.Pair(t)
	from, to, _ := connections(t, lab, link, 1)
	s := openAt(t, lab.A, &Options{sockets: told(from...)}, openTCPInfo)
	const filled = 192 // Linux 4.10: up to sndbuf_limited
	s.(*tcpInfo).filled = filled
	transfer(t, from[0], to[0], 1000)
	x := sampleOf(t, s)
	for _, f := range tcpCounts {
		for _, prefix := range []string{"", "flow0."} {
			_, there := x.counts[prefix+f.name]
			if want := f.at+f.size <= filled && (prefix == "" || f.flow); there != want {
				t.Errorf("%s%s is there: %v", prefix, f.name, there)
			}
		}
	}
	if _, there := x.counts["sndbuf_limited_ns"]; !there {
		t.Errorf("the last of what is filled is missing: %v", x.counts)
	}
}
