package ether

import (
	"encoding/binary"

	"netdelta/internal/sys/tuntap"
)

// What a frame takes of a line beside what a TAP gives: preamble, checksum and the
// gap to the next; and the least that a frame takes with them (IEEE 802.3).
const (
	lineOverhead = 24
	shortestLine = 84
)

// lineBytes is what a TAP's frame takes of a line, in bytes. One that is to be cut
// into segments takes what those would, each with headers of its own.
//
//go:nosplit
func (f *framer) lineBytes(p []byte) int {
	frame := len(p) - f.header
	if f.header == 0 || p[1]&^tuntap.GSOECN == tuntap.GSONone {
		return onLine(frame)
	}
	size, headers := int(binary.NativeEndian.Uint16(p[4:])), f.segmentHeaders(p)
	payload := frame - headers
	if size == 0 || payload <= size {
		return onLine(frame)
	}
	full := (payload - 1) / size // and a last one
	return full*onLine(headers+size) + onLine(headers+payload-full*size)
}

// onLine is what one packet's frame takes of a line.
//
//go:nosplit
func onLine(frame int) int { return max(frame+lineOverhead, shortestLine) }

// segmentHeaders is the bytes of all headers of a frame that is to be cut. The
// header of virtio-net says where the last of them begins, since its checksum is
// yet to be made; its own length of the headers is a hint that can be too long
// (virtio_net_hdr_from_skb in linux/virtio_net.h).
//
//go:nosplit
func (f *framer) segmentHeaders(p []byte) int {
	hint := int(binary.NativeEndian.Uint16(p[2:]))
	if p[0]&tuntap.NeedsChecksum == 0 {
		return hint
	}
	start := int(binary.NativeEndian.Uint16(p[6:]))
	if p[1]&^tuntap.GSOECN == tuntap.GSOUDPL4 {
		return start + 8
	}
	if at := f.header + start + 12; at < len(p) {
		return start + int(p[at]>>4)*4 // TCP's data offset (RFC 9293)
	}
	return hint
}
