package ether_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/sys/tuntap"
)

// packetHdr is the bytes of the virtio-net header that a packet socket takes:
// it has no buffer count (packet(7), PACKET_VNET_HDR).
const packetHdr = 10

// longest is the bytes of the longest frame that a kernel sends without
// cutting it (gso_features_check in net/core/dev.c, for the usual limit).
const longest = 65535

// longestIn is the same where what page fragments have no room for is refused
// (netlab has the sender's kernel cut that).
func longestIn(c ether.Context) int {
	if c.TAP.NAPIFrags {
		return longest - 256 - 2
	}
	return longest
}

// segmented is an IPv4 TCP frame with n bytes of data, to be cut into
// segments of 1448, and the header that says so.
func segmented(n int) (tuntap.VNetHdr, []byte) {
	const ip, tcp, data = 14, 34, 54
	p := frame(data+n, 7)
	e := binary.BigEndian
	e.PutUint16(p[12:], unix.ETH_P_IP)
	clear(p[ip:data])
	p[ip] = 0x45
	e.PutUint16(p[ip+2:], uint16(40+n))
	p[ip+8], p[ip+9] = 64, unix.IPPROTO_TCP
	copy(p[ip+12:], []byte{192, 0, 2, 1, 192, 0, 2, 2})
	e.PutUint16(p[ip+10:], ^sum(p[ip:tcp]))
	e.PutUint16(p[tcp:], 9)
	e.PutUint16(p[tcp+2:], 9)
	p[tcp+12], p[tcp+13] = 5<<4, 0x10 // ACK
	// The pseudo header's sum waits for the rest.
	pseudo := append([]byte{0, unix.IPPROTO_TCP}, p[ip+12:ip+20]...)
	e.PutUint16(p[tcp+16:], sum(e.AppendUint16(pseudo, uint16(20+n))))
	return tuntap.VNetHdr{
		Flags: tuntap.NeedsChecksum, GSOType: tuntap.GSOTCPv4, HeaderLen: data, GSOSize: 1448,
		ChecksumStart: tcp, ChecksumOffset: 16,
	}, p
}

// sum is the Internet checksum's sum, not inverted (RFC 1071).
func sum(p []byte) uint16 {
	var s uint32
	for i := 0; i < len(p); i += 2 {
		s += uint32(binary.BigEndian.Uint16(p[i:]))
	}
	for s > 0xffff {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// withHeaders makes the host's socket send and receive IPv4 frames behind
// virtio-net headers.
func (h *host) withHeaders(t *testing.T) {
	t.Helper()
	if err := unix.SetsockoptInt(h.sock, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		t.Fatal(err)
	}
	proto := uint16(unix.ETH_P_IP>>8 | unix.ETH_P_IP&0xff<<8)
	if err := unix.Bind(h.sock, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: h.index}); err != nil {
		t.Fatal(err)
	}
}

// TestOffloadPassesOneLongFrame sends 64 KB of TCP as one frame: it must come
// as one, with the header that the far kernel needs to cut it.
func TestOffloadPassesOneLongFrame(t *testing.T) {
	for _, c := range ether.Contexts() {
		t.Run(c.Name, func(t *testing.T) {
			c.TAP.VNetHdr = true
			needContext(t, c)
			a, b := newHosts(t, c, 1500)
			w := start(t, a, b, c, 1500)
			a.withHeaders(t)
			b.withHeaders(t)
			h, p := segmented(longestIn(c) - 54)
			a.send(t, append(h.Append(nil)[:packetHdr], p...))
			got := b.recv(t)
			back, err := tuntap.DecodeVNetHdr(append(bytes.Clone(got[:packetHdr]), 0, 0))
			if err != nil {
				t.Fatal(err)
			}
			back.HeaderLen = h.HeaderLen // a hint that each kernel gives anew
			if back != h {
				t.Errorf("header %+v came as %+v", h, back)
			}
			if !bytes.Equal(got[packetHdr:], p) {
				t.Errorf("a frame of %d bytes came as %d others", len(p), len(got)-packetHdr)
			}
			s := settled(t, w, 1, 0)
			if n := uint64(len(p)); s.AToB[ether.FramesOut] != 1 || s.AToB[ether.BytesIn] != n || s.AToB[ether.BytesOut] != n || s.AToB.Dropped() != 0 {
				t.Errorf("counted %v, want one frame of %d bytes", s.Counts(), n)
			}
		})
	}
}
