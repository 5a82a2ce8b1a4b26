package tuntap

import (
	"encoding/binary"
	"fmt"
)

// VNetHdrSize is the bytes of a virtio-net header with its buffer count
// (struct virtio_net_hdr_mrg_rxbuf of linux/virtio_net.h).
const VNetHdrSize = 12

// Flags of a virtio-net header (VIRTIO_NET_HDR_F_ in linux/virtio_net.h).
const (
	// NeedsChecksum: the checksum from ChecksumStart on is still to be put at
	// ChecksumStart + ChecksumOffset.
	NeedsChecksum = 1
	// DataValid: the checksum has been verified.
	DataValid = 2
)

// Segmentation types of a virtio-net header (VIRTIO_NET_HDR_GSO_).
const (
	GSONone  = 0
	GSOTCPv4 = 1
	GSOTCPv6 = 4
	GSOUDPL4 = 5    // one datagram for each segment (USO)
	GSOECN   = 0x80 // added to a TCP type: congestion flags are set
)

// VNetHdr is a virtio-net header: what is still to be done to the frame
// behind it (virtio 1.2, 5.1.6). Offsets count from the frame's first byte.
type VNetHdr struct {
	Flags          uint8
	GSOType        uint8
	HeaderLen      uint16 // a hint only: bytes of all headers
	GSOSize        uint16 // payload bytes of one segment
	ChecksumStart  uint16
	ChecksumOffset uint16
	NumBuffers     uint16 // unused on a TAP
}

// DecodeVNetHdr reads the header at the start of p. It reports a p too short
// to hold one. Fields are in the machine's byte order, as a TAP without
// TUNSETVNETLE or TUNSETVNETBE has them.
func DecodeVNetHdr(p []byte) (VNetHdr, error) {
	if len(p) < VNetHdrSize {
		return VNetHdr{}, fmt.Errorf("virtio-net header: %d bytes, it needs %d", len(p), VNetHdrSize)
	}
	e := binary.NativeEndian
	return VNetHdr{
		Flags:          p[0],
		GSOType:        p[1],
		HeaderLen:      e.Uint16(p[2:]),
		GSOSize:        e.Uint16(p[4:]),
		ChecksumStart:  e.Uint16(p[6:]),
		ChecksumOffset: e.Uint16(p[8:]),
		NumBuffers:     e.Uint16(p[10:]),
	}, nil
}

// Append adds the header's VNetHdrSize bytes to p.
func (h VNetHdr) Append(p []byte) []byte {
	e := binary.NativeEndian
	p = append(p, h.Flags, h.GSOType)
	p = e.AppendUint16(p, h.HeaderLen)
	p = e.AppendUint16(p, h.GSOSize)
	p = e.AppendUint16(p, h.ChecksumStart)
	p = e.AppendUint16(p, h.ChecksumOffset)
	return e.AppendUint16(p, h.NumBuffers)
}
