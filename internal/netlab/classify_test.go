//go:build linux

package netlab

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/nft"
)

// classifying is a lab that counts by control group.
func classifying(t *testing.T) *Lab {
	t.Helper()
	labtest.Need(t, feature.SocketGroup)
	lab := newLab(t)
	if err := lab.Classify(); err != nil {
		labtest.Skip(t, err)
	}
	return lab
}

// dial makes a connection of host a's to a port of host b's; it is in the test's own
// group.
func dial(t *testing.T, k *Link, network string, port int) net.Conn {
	t.Helper()
	var c net.Conn
	err := k.lab.A.NS.Do(func() (err error) {
		if network == "udp" {
			c, err = net.DialUDP(network, nil, &net.UDPAddr{IP: k.AddrB().AsSlice(), Port: port})
		} else {
			c, err = net.DialTCP(network, nil, &net.TCPAddr{IP: k.AddrB().AsSlice(), Port: port})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// roundTrips passes n bytes there and back, one after the other.
func roundTrips(t *testing.T, c net.Conn, n int) {
	t.Helper()
	var b [1]byte
	for i := range n {
		_, err := c.Write(b[:])
		if err == nil {
			_, err = c.Read(b[:])
		}
		if err != nil {
			t.Fatalf("round trip %d: %v", i, err)
		}
	}
}

// classes is what the hosts have counted: all packets, and those that were not of the
// host's group.
type classes struct{ all, missed [2]int64 }

func classesOf(t *testing.T, k *Link) (c classes) {
	t.Helper()
	n, err := k.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range k.hosts() {
		c.all[i] = n[h.Name+".classified_all"]
		c.missed[i] = c.all[i] - n[h.Name+".classified_cgroup"]
	}
	return c
}

func (c classes) since(before classes) classes {
	for i := range c.all {
		c.all[i] -= before.all[i]
		c.missed[i] -= before.missed[i]
	}
	return c
}

const echoCount = 50

// TestClassified has a process of host b's group receive by every link: all packets
// are its group's, wherever they are handled. Those that come to host a, whose process
// is in the test's own group, are not.
func TestClassified(t *testing.T) {
	for _, c := range links() {
		t.Run(c.String(), func(t *testing.T) {
			needLink(t, c)
			labtest.NoLeaks(t)
			lab := classifying(t)
			k := connect(t, lab, c)
			m := startMember(t, k, lab.B.Group, nil)
			before := classesOf(t, k)
			roundTrips(t, dial(t, k, "udp", m.udp), echoCount)
			if got := classesOf(t, k).since(before); got.all != [2]int64{echoCount, echoCount} || got.missed != [2]int64{echoCount, 0} {
				t.Errorf("UDP: a counted %d, not its group's %d; b %d and %d", got.all[0], got.missed[0], got.all[1], got.missed[1])
			}
			before = classesOf(t, k)
			tcp := dial(t, k, "tcp", m.tcp)
			roundTrips(t, tcp, 1)
			// The last packet of the handshake finds a request and no socket yet.
			opened := classesOf(t, k)
			if got := opened.since(before); got.missed[1] < 1 || got.missed[1] == got.all[1] {
				t.Errorf("opening: b counted %d, not its group's %d", got.all[1], got.missed[1])
			}
			roundTrips(t, tcp, echoCount)
			if got := classesOf(t, k).since(opened); got.all[1] < echoCount || got.missed[1] != 0 || got.all[0] < echoCount || got.missed[0] != got.all[0] {
				t.Errorf("TCP: a counted %d, not its group's %d; b %d and %d", got.all[0], got.missed[0], got.all[1], got.missed[1])
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTimeWait: what comes for a connection that the host's own end has closed first
// finds no whole socket; if the other end does, all packets do.
func TestTimeWait(t *testing.T) {
	c := LinkConfig{Kind: Veth, Context: "backlog"}
	needLink(t, c)
	lab := classifying(t)
	k := connect(t, lab, c)
	m := startMember(t, k, lab.B.Group, nil)
	two := func(before classes) {
		eventually(t, "b has had two packets", func() bool { return classesOf(t, k).since(before).all[1] >= 2 })
	}
	tcp := dial(t, k, "tcp", m.tcp)
	roundTrips(t, tcp, 1)
	before := classesOf(t, k)
	if err := tcp.Close(); err != nil {
		t.Fatal(err)
	}
	two(before)
	if got := classesOf(t, k).since(before); got.missed[1] != 0 {
		t.Errorf("closed by a: b counted %d, not its group's %d", got.all[1], got.missed[1])
	}

	tcp = dial(t, k, "tcp", m.tcp)
	roundTrips(t, tcp, 1)
	before = classesOf(t, k)
	if _, err := tcp.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if n, err := tcp.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Fatalf("%d bytes came, %v, where the end was due", n, err)
	}
	// With a's acknowledgement of the end, before its own, b's socket is replaced.
	two(before)
	if got := classesOf(t, k).since(before); got.missed[1] != 0 {
		t.Errorf("closed by b: b counted %d, not its group's %d", got.all[1], got.missed[1])
	}
	if err := tcp.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a packet in TIME-WAIT is of no group", func() bool { return classesOf(t, k).since(before).missed[1] >= 1 })
}

// TestWrongGroup: what the check is for would be seen. A process outside of the group
// is not of it, nor is a socket that was made outside of it and is used in it.
func TestWrongGroup(t *testing.T) {
	c := LinkConfig{Kind: Veth, Context: "backlog"}
	needLink(t, c)
	labtest.NoLeaks(t)
	lab := classifying(t)
	k := connect(t, lab, c)
	fd, port, err := lab.B.udpSocket(k.AddrB())
	if err != nil {
		t.Fatal(err)
	}
	foreign := os.NewFile(uintptr(fd), "a socket of the test's group")
	inside := startMember(t, k, lab.B.Group, foreign)
	if err := foreign.Close(); err != nil {
		t.Fatal(err)
	}
	outside := startMember(t, k, nil, nil)
	for _, x := range []struct {
		name   string
		port   int
		missed int64
	}{
		{"a socket of the group", inside.udp, 0},
		{"a socket from elsewhere", int(port), echoCount},
		{"a process outside", outside.udp, echoCount},
	} {
		before := classesOf(t, k)
		roundTrips(t, dial(t, k, "udp", x.port), echoCount)
		if got := classesOf(t, k).since(before); got.all[1] != echoCount || got.missed[1] != x.missed {
			t.Errorf("%s: %d packets, %d not of the group, want %d", x.name, got.all[1], got.missed[1], x.missed)
		}
	}
}

// TestUnclassify looks for what is left in a namespace that lasts.
func TestUnclassify(t *testing.T) {
	labtest.NoLeaks(t)
	lab := classifying(t)
	group := lab.B.group.Group
	if err := lab.Classify(); err != nil || lab.B.group.Dir != group.Dir {
		t.Errorf("a second time: %v, group %s after %s", err, lab.B.group.Dir, group.Dir)
	}
	own, err := sys.OwnGroup()
	if err != nil {
		t.Fatal(err)
	}
	if table, err := nft.Count(lab.B.NS, "lo", own); !errors.Is(err, unix.EEXIST) {
		t.Errorf("a table is there, and another was made: %v, %v", table, err)
	}
	for _, h := range []*Host{lab.A, lab.B} {
		dir := h.Group.Name()
		if err := h.unclassify(); err != nil {
			t.Error(err)
		}
		if _, err := (sys.Group{Dir: dir}).ID(); !errors.Is(err, unix.ENOENT) {
			t.Errorf("group %s is there: %v", dir, err)
		}
		table, err := nft.Count(h.NS, "lo", own)
		if err != nil {
			t.Fatalf("a table is left: %v", err)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}
