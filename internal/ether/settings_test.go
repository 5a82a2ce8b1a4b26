package ether

import (
	"os"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
	"netdelta/internal/sys/tuntap"
)

func TestSettingsRoundTrip(t *testing.T) {
	for _, s := range []settings{
		{cpu: -1, mtu: DefaultMTU},
		{handoff: true, bounded: true, cpu: 3, vnetHdr: true, mtu: MaxMTU},
		{cpu: -1, mtu: DefaultMTU, frags: true},
		{cpu: -1, mtu: DefaultMTU, wire: spec.Wire{Line: true}},
		{cpu: -1, mtu: DefaultMTU, wire: spec.Wire{Line: true, Delay: 10 * time.Microsecond, Loss: spec.Share{Random: 0.01}}},
	} {
		got, err := parseSettings(s.args())
		if err != nil || got != s {
			t.Errorf("%+v came back as %+v, %v", s, got, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, args := range []string{"-cpu=-2", "-mtu=67", "-mtu=65522", "-mtu=x", "-handoff=maybe", "-bounded=maybe", "-frags=maybe", "-wire=delay=x", "-wire=rate=1Tbit/s,delay=1s", "-unknown", "word"} {
		if _, err := parseSettings(strings.Fields(args)); err == nil {
			t.Errorf("%s was taken", args)
		}
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add(strings.Join(settings{cpu: -1, mtu: DefaultMTU}.args(), " "))
	f.Add("-cpu 2 -mtu=9000 -handoff")
	f.Add("-h")
	f.Add("-- -cpu=1")
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseSettings(strings.Fields(line))
		if err != nil {
			return
		}
		again, err := parseSettings(s.args())
		if err != nil || again != s {
			t.Fatalf("%q: %+v came back as %+v, %v", line, s, again, err)
		}
	})
}

func TestConfigNeedsTAPs(t *testing.T) {
	if _, err := (Config{A: os.Stdin, CPU: -1}).settings(); err == nil {
		t.Error("one TAP was taken")
	}
	s, err := (Config{A: os.Stdin, B: os.Stdin, CPU: -1}).settings()
	if err != nil || s.mtu != DefaultMTU {
		t.Errorf("settings = %+v, %v", s, err)
	}
	if _, err := (Config{A: os.Stdin, B: os.Stdin, CPU: -1, Wire: spec.Wire{Delay: -1}}).settings(); err == nil {
		t.Error("a delay below 0 was taken")
	}
	if _, err := (Config{A: os.Stdin, B: os.Stdin, MTU: 10}).settings(); err == nil {
		t.Error("an MTU of 10 was taken")
	}
}

func TestFramerLimits(t *testing.T) {
	plain := settings{mtu: 1500}.framer()
	offload := settings{mtu: 1500, vnetHdr: true}.framer()
	frame := func(n int, gso uint8) []byte {
		p := tuntap.VNetHdr{GSOType: gso}.Append(nil)
		return append(p, make([]byte, n)...)
	}
	for _, c := range []struct {
		name string
		f    framer
		p    []byte
		want bool
	}{
		{"full frame", plain, make([]byte, 1518), true},
		{"one byte more", plain, make([]byte, 1519), false},
		{"full frame behind a header", offload, frame(1518, tuntap.GSONone), true},
		{"one byte more behind a header", offload, frame(1519, tuntap.GSONone), false},
		{"one byte more, congestion flag only", offload, frame(1519, tuntap.GSOECN), false},
		{"to be segmented", offload, frame(65553, tuntap.GSOTCPv4|tuntap.GSOECN), true},
		{"to be segmented, too long for a packet", offload, frame(65554, tuntap.GSOTCPv4), false},
		{"header only", offload, frame(0, tuntap.GSONone), true},
		{"half a header", offload, make([]byte, 6), false},
	} {
		if got := c.f.fits(c.p); got != c.want {
			t.Errorf("%s: fits = %v, want %v", c.name, got, c.want)
		}
		if len(c.p) > c.f.room {
			t.Errorf("%s: %d bytes have no room in %d: the cut would not be seen", c.name, len(c.p), c.f.room)
		}
	}
}
