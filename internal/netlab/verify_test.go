//go:build linux

package netlab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

// TestIgnoredSettingsAreErrors changes one setting behind a link's back, as a
// kernel that ignores it would leave it, and asks for the check that has to
// find it.
func TestIgnoredSettingsAreErrors(t *testing.T) {
	labtest.NoLeaks(t)
	lab := newLab(t)
	threaded := func(value string) func(*testing.T, *Link) {
		return func(t *testing.T, k *Link) {
			labtest.Need(t, feature.ThreadedNAPI)
			fs, err := lab.B.NS.OpenSysfs()
			if err != nil {
				t.Fatal(err)
			}
			defer fs.Close()
			if err := fs.Set("class/net/"+lab.B.Device+"/threaded", value); err != nil {
				t.Fatal(err)
			}
		}
	}
	offload := func(name string, on bool) func(*testing.T, *Link) {
		return func(t *testing.T, k *Link) {
			if err := lab.B.eth.Change(lab.B.Device, map[string]bool{name: on}); err != nil {
				t.Fatal(err)
			}
		}
	}
	verify := func(k *Link) error { return k.verify(t.Context()) }
	handled := func(k *Link) error { return k.handled(t.Context()) }
	for _, c := range []struct {
		name  string
		cfg   LinkConfig
		spoil func(*testing.T, *Link)
		check func(*Link) error
		want  string
	}{
		{"GRO", LinkConfig{Kind: Veth, Context: "napi"}, offload("rx-gro", false), verify, "rx-gro"},
		{"TSO", LinkConfig{Kind: Veth, Context: "backlog", Offload: true}, offload("tx-tcp-segmentation", false), verify, "-segmentation false after true"},
		{"checksum", LinkConfig{Kind: Veth, Context: "backlog"}, offload("tx-checksum-ip-generic", true), verify, "tx-checksum-ip-generic"},
		{"MTU", LinkConfig{Kind: Veth, Context: "backlog", MTU: 9000}, func(t *testing.T, k *Link) {
			dev, err := lab.B.device()
			if err != nil {
				t.Fatal(err)
			}
			if err := lab.B.nl.LinkSetMTU(dev, 1500); err != nil {
				t.Fatal(err)
			}
		}, verify, "MTU 1500 after 9000"},
		{"threads in softirq", LinkConfig{Kind: Ether, Context: "softirq", WireCPU: sys.NoCPU}, threaded("1"), verify, "threaded NAPI 1 after 0"},
		{"threads in napi", LinkConfig{Kind: Veth, Context: "napi"}, threaded("1"), verify, "threaded NAPI 1 after 0"},
		{"no threads", LinkConfig{Kind: Ether, Context: "kthread", WireCPU: sys.NoCPU}, threaded("0"), verify, "threaded NAPI 0 after 1"},
		{"no veth threads", LinkConfig{Kind: Veth, Context: "napi-threaded"}, threaded("0"), verify, "threaded NAPI 0 after 1"},
		{"steering", LinkConfig{Kind: Ether, Context: "backlog", WireCPU: sys.NoCPU, HandlerCPU: sys.NoCPU}, func(_ *testing.T, k *Link) { k.cfg.HandlerCPU = otherCPU(t) }, verify, "packet steering"},
		{"a backlog that is idle", LinkConfig{Kind: Ether, Context: "backlog", WireCPU: sys.NoCPU, HandlerCPU: sys.NoCPU}, func(_ *testing.T, k *Link) { k.seen = map[int]uint32{} }, handled, "offline"},
		{"page fragments", LinkConfig{Kind: Ether, Context: "frags", Offload: true, WireCPU: sys.NoCPU}, func(t *testing.T, k *Link) {
			dev, err := lab.B.device()
			if err != nil {
				t.Fatal(err)
			}
			if err := lab.B.nl.LinkSetGSOMaxSize(dev, 65536); err != nil {
				t.Fatal(err)
			}
		}, verify, "65536 after 65277"},
		{"no NAPI", LinkConfig{Kind: Veth, Context: "backlog"}, func(_ *testing.T, k *Link) { k.cfg.Context = "napi" }, handled, "by NAPI"},
		{"NAPI", LinkConfig{Kind: Veth, Context: "napi-threaded"}, func(_ *testing.T, k *Link) { k.cfg.Context = "backlog" }, handled, "by NAPI"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := connect(t, lab, c.cfg)
			defer k.Close()
			if err := c.check(k); err != nil {
				t.Fatalf("before: %v", err)
			}
			c.spoil(t, k)
			if err := c.check(k); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestTAPsAreReadBack(t *testing.T) {
	labtest.Need(t, feature.TAPNAPI, feature.VNetHdr)
	a, _ := labtest.Pair(t)
	err := a.Do(func() error {
		made := tuntap.Options{NAPI: true}
		f, _, err := tuntap.Open("tap0", made)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := checkTAP(f, made); err != nil {
			t.Error(err)
		}
		for _, other := range []tuntap.Options{{}, {NAPI: true, VNetHdr: true}, {NAPI: true, SndBuf: 1 << 20}, {NAPI: true, NAPIFrags: true}} {
			if checkTAP(f, other) == nil {
				t.Errorf("a TAP made with %+v passes for %+v", made, other)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOffloadPassesNAPIBy shows why LinkConfig has no offload with NAPI: a
// veth whose sender does TSO hands nothing to the receiver's NAPI.
func TestOffloadPassesNAPIBy(t *testing.T) {
	lab := newLab(t)
	k := connect(t, lab, LinkConfig{Kind: Veth, Context: "napi"})
	defer k.Close()
	on := map[string]bool{"tx-checksum-ip-generic": true, "tx-tcp-segmentation": true}
	if err := lab.A.eth.Change(lab.A.Device, on); err != nil {
		t.Fatal(err)
	}
	before, known, err := lab.B.polledPackets()
	if err != nil {
		t.Fatal(err)
	}
	if !known {
		labtest.Skip(t, errors.New("this kernel's veth does not count NAPI packets"))
	}
	echoes(t, lab.A, k.AddrB(), 10)
	after, _, err := lab.B.polledPackets()
	if err != nil {
		t.Fatal(err)
	}
	if after != before {
		t.Errorf("NAPI had %d of 10 packets: the driver has changed, and so may LinkConfig.check", after-before)
	}
}

// TestThreadsHandleFrames finds the kernel threads of a threaded link and
// sees them use CPU time. Their names are seen outside of PID namespaces
// only.
func TestThreadsHandleFrames(t *testing.T) {
	for _, c := range []LinkConfig{{Kind: Ether, Context: "kthread", WireCPU: sys.NoCPU}, {Kind: Veth, Context: "napi-threaded"}} {
		t.Run(c.Kind, func(t *testing.T) {
			lab := newLab(t)
			k := connect(t, lab, c)
			defer k.Close()
			threads, seen, err := sys.NAPIThreads(lab.B.Device)
			if err != nil {
				t.Fatal(err)
			}
			if !seen {
				labtest.Skip(t, errors.New("kernel threads are hidden here (a PID namespace, hidepid)"))
			}
			before := switches(t, threads)
			echoes(t, lab.A, k.AddrB(), 50)
			after := switches(t, threads)
			var ran int64
			for pid, n := range after {
				ran += n - before[pid]
			}
			if ran < 25 {
				t.Errorf("the NAPI threads %v ran %d times for 50 echoes", after, ran)
			}
		})
	}
}

// switches is the threads' voluntary context switches: one for each time that
// a thread had no more to do.
func switches(t *testing.T, pids []int) map[int]int64 {
	t.Helper()
	n := map[int]int64{}
	for _, pid := range pids {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // another lab's, which has ended
		}
		for line := range strings.Lines(string(status)) {
			if text, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				if n[pid], err = strconv.ParseInt(strings.TrimSpace(text), 10, 64); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return n
}

// TestNoThreadsOfOtherNames: interfaces that nobody has have no threads.
func TestNoThreadsOfOtherNames(t *testing.T) {
	if threads, _, err := sys.NAPIThreads("no-such-device"); err != nil || len(threads) != 0 {
		t.Errorf("got %v, %v", threads, err)
	}
}

// TestMTUs passes a datagram that fills a frame.
func TestMTUs(t *testing.T) {
	lab := newLab(t)
	for _, kind := range []string{Veth, Ether} {
		for _, mtu := range []int{MinMTU, 9000, MaxMTU} {
			c := LinkConfig{Kind: kind, Context: Contexts(kind)[0], MTU: mtu, WireCPU: sys.NoCPU}
			t.Run(kind+"/"+strconv.Itoa(mtu), func(t *testing.T) {
				k := connect(t, lab, c)
				defer k.Close()
				const ipUDP = 20 + 8
				if err := sendOne(lab, k, mtu-ipUDP); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// sendOne sends a datagram of size bytes from host a to host b, with
// fragmentation forbidden.
func sendOne(lab *Lab, k *Link, size int) error {
	from, _, err := lab.A.udpSocket(k.AddrA())
	if err != nil {
		return err
	}
	defer unix.Close(from)
	to, port, err := lab.B.udpSocket(k.AddrB())
	if err != nil {
		return err
	}
	defer unix.Close(to)
	if err := unix.SetsockoptInt(from, unix.SOL_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO); err != nil {
		return err
	}
	wait := unix.NsecToTimeval(int64(2 * time.Second))
	if err := unix.SetsockoptTimeval(to, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return err
	}
	if err := unix.Sendto(from, make([]byte, size), 0, sockaddr(netip.AddrPortFrom(k.AddrB(), port))); err != nil {
		return err
	}
	n, _, err := unix.Recvfrom(to, make([]byte, size+1), 0)
	for errors.Is(err, unix.EINTR) { // a wait with a timeout is not resumed after a signal
		n, _, err = unix.Recvfrom(to, make([]byte, size+1), 0)
	}
	if err == nil && n != size {
		err = errors.New("a datagram of " + strconv.Itoa(n) + " bytes came")
	}
	return err
}

// TestWithoutIPv6 has a lab as on a kernel without IPv6.
func TestWithoutIPv6(t *testing.T) {
	lab := newLab(t)
	lab.ipv6 = false
	k := connect(t, lab, LinkConfig{Kind: Veth, Context: "backlog"})
	defer k.Close()
	if k.Addr6A().IsValid() || k.Addr6B().IsValid() {
		t.Errorf("IPv6 addresses %v, %v", k.Addr6A(), k.Addr6B())
	}
	if !k.AddrA().Is4() || !k.AddrB().Is4() || k.AddrA() == k.AddrB() {
		t.Errorf("IPv4 addresses %v, %v", k.AddrA(), k.AddrB())
	}
}

// TestQuiet waits for what a new link sends of itself to be over and then
// sees nothing for a while, as a window must.
func TestQuiet(t *testing.T) {
	lab := newLab(t)
	k := connect(t, lab, LinkConfig{Kind: Veth, Context: "backlog"})
	defer k.Close()
	time.Sleep(200 * time.Millisecond) // the group reports, sysctl_linux.go
	before, err := k.Counts()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond)
	after, err := k.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range after {
		if n != before[name] {
			t.Errorf("%s went from %d to %d on an idle link", name, before[name], n)
		}
	}
}
