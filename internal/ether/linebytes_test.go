package ether

import (
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/sys/tuntap"
)

// header puts a virtio-net header before a frame of n bytes whose TCP header,
// if that is where the checksum starts, has 8 words.
func header(h tuntap.VNetHdr, n int) []byte {
	p := append(h.Append(nil), make([]byte, n)...)
	if at := tuntap.VNetHdrSize + int(h.ChecksumStart) + 12; h.ChecksumStart > 0 && at < len(p) {
		p[at] = 8 << 4
	}
	return p
}

func TestLineBytes(t *testing.T) {
	plain, offload := settings{mtu: 1500}.framer(), settings{mtu: 1500, vnetHdr: true}.framer()
	tcp4 := tuntap.VNetHdr{Flags: tuntap.NeedsChecksum, GSOType: tuntap.GSOTCPv4, GSOSize: 1448, HeaderLen: 2000, ChecksumStart: 34, ChecksumOffset: 16}
	uso := tuntap.VNetHdr{Flags: tuntap.NeedsChecksum, GSOType: tuntap.GSOUDPL4, GSOSize: 10, HeaderLen: 42, ChecksumStart: 34, ChecksumOffset: 6}
	ecn, hinted := tcp4, tcp4
	ecn.GSOType |= tuntap.GSOECN
	hinted.Flags, hinted.HeaderLen = tuntap.DataValid, 66
	for _, c := range []struct {
		name string
		f    framer
		p    []byte
		want int
	}{
		{"the shortest", plain, make([]byte, 42), 84},
		{"60 bytes", plain, make([]byte, 60), 84},
		{"61 bytes", plain, make([]byte, 61), 85},
		{"a full frame", plain, make([]byte, 1514), 1538},
		{"a full frame behind a header", offload, header(tuntap.VNetHdr{}, 1514), 1538},
		{"one segment", offload, header(tcp4, 66+1448), 1538},
		{"two segments", offload, header(tcp4, 66+1449), 1538 + 66 + 1 + 24},
		{"ten segments", offload, header(tcp4, 66+14480), 10 * 1538},
		{"ten segments, congestion flag", offload, header(ecn, 66+14480), 10 * 1538},
		{"three segments, by the hint", offload, header(hinted, 66+3*1448), 3 * 1538},
		{"datagrams of 10 bytes", offload, header(uso, 42+25), 3 * 84},
		{"no size", offload, header(tuntap.VNetHdr{GSOType: tuntap.GSOTCPv4}, 3000), 3024},
		{"a checksum beyond the frame, by the hint of none", offload, header(tuntap.VNetHdr{Flags: 1, GSOType: tuntap.GSOTCPv4, GSOSize: 1, ChecksumStart: 65535}, 100), 100 * 84},
	} {
		if got := c.f.lineBytes(c.p); got != c.want {
			t.Errorf("%s: %d bytes on the line, want %d", c.name, got, c.want)
		}
	}
}

// TestLineBytesOfAnything: whatever a header says, a frame takes of the line what
// it has at least, and no more than its bytes one by one would.
func TestLineBytesOfAnything(t *testing.T) {
	f := settings{mtu: 1500, vnetHdr: true}.framer()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Byte(), tuntap.VNetHdrSize, 4000).Draw(t, "frame")
		n := len(p) - tuntap.VNetHdrSize
		got := f.lineBytes(p)
		if got < n+lineOverhead || got > (n+1)*(n+lineOverhead+shortestLine) {
			t.Fatalf("%d bytes take %d of the line", n, got)
		}
	})
}
