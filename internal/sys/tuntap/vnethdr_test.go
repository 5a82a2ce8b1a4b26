package tuntap

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestVNetHdrLayout(t *testing.T) {
	h := VNetHdr{Flags: NeedsChecksum, GSOType: GSOTCPv4 | GSOECN, HeaderLen: 0x1111, GSOSize: 0x2222, ChecksumStart: 0x3333, ChecksumOffset: 0x4444, NumBuffers: 0x5555}
	// Bytes that are the same in either byte order.
	want := []byte{1, 0x81, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33, 0x44, 0x44, 0x55, 0x55}
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append = %x, want %x", got, want)
	}
}

func TestVNetHdrRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u16 := rapid.Uint16()
		h := VNetHdr{
			Flags: rapid.Uint8().Draw(t, "flags"), GSOType: rapid.Uint8().Draw(t, "gso"),
			HeaderLen: u16.Draw(t, "hdr"), GSOSize: u16.Draw(t, "size"),
			ChecksumStart: u16.Draw(t, "start"), ChecksumOffset: u16.Draw(t, "offset"), NumBuffers: u16.Draw(t, "buffers"),
		}
		p := h.Append(nil)
		if len(p) != VNetHdrSize {
			t.Fatalf("Append made %d bytes, want %d", len(p), VNetHdrSize)
		}
		got, err := DecodeVNetHdr(append(p, 1, 2, 3))
		if err != nil || got != h {
			t.Fatalf("DecodeVNetHdr = %+v, %v; want %+v", got, err, h)
		}
	})
}

func FuzzDecodeVNetHdr(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, VNetHdrSize-1))
	f.Add(VNetHdr{GSOType: GSOUDPL4, GSOSize: 1472}.Append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, err := DecodeVNetHdr(p)
		if (err == nil) != (len(p) >= VNetHdrSize) {
			t.Fatalf("%d bytes: error %v", len(p), err)
		}
		if err == nil && !bytes.Equal(h.Append(nil), p[:VNetHdrSize]) {
			t.Fatalf("%x came back as %x", p[:VNetHdrSize], h.Append(nil))
		}
	})
}

func TestOptionsAndNamesRefused(t *testing.T) {
	for _, o := range []Options{{NAPIFrags: true}, {SndBuf: -1}} {
		if o.check() == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	for _, o := range []Options{{}, {NAPI: true, NAPIFrags: true}, {SndBuf: 1 << 20, VNetHdr: true}} {
		if err := o.check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if checkName("sixteen-bytes-xx") == nil {
		t.Error("a name of 16 bytes was taken")
	}
	for _, name := range []string{"", "tap%d", "fifteen-bytes-x"} {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
