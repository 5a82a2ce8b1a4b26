package ether

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"netdelta/internal/spec"
	"netdelta/internal/sys/tuntap"
)

// DefaultMTU is Ethernet's, in bytes.
const DefaultMTU = 1500

// Limits of an MTU in bytes: the least that IPv4 allows (RFC 791), and the
// most that a TAP takes.
const (
	MinMTU = 68
	MaxMTU = 65521
)

// settings are what the wire process is told by its arguments.
type settings struct {
	handoff bool
	bounded bool
	frags   bool
	cpu     int // or sys.NoCPU
	vnetHdr bool
	mtu     int
	wire    spec.Wire
}

// args are the arguments that parseSettings reads.
func (s settings) args() []string {
	return []string{
		"-handoff=" + strconv.FormatBool(s.handoff),
		"-bounded=" + strconv.FormatBool(s.bounded),
		"-frags=" + strconv.FormatBool(s.frags),
		"-cpu=" + strconv.Itoa(s.cpu),
		"-vnethdr=" + strconv.FormatBool(s.vnetHdr),
		"-mtu=" + strconv.Itoa(s.mtu),
		"-wire=" + s.wire.String(),
	}
}

func parseSettings(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("wire", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&s.handoff, "handoff", false, "")
	f.BoolVar(&s.bounded, "bounded", false, "")
	f.BoolVar(&s.frags, "frags", false, "")
	f.IntVar(&s.cpu, "cpu", -1, "")
	f.BoolVar(&s.vnetHdr, "vnethdr", false, "")
	f.IntVar(&s.mtu, "mtu", DefaultMTU, "")
	f.Func("wire", "", func(text string) (err error) {
		s.wire, err = spec.ParseWire(text)
		return err
	})
	if err := f.Parse(args); err != nil {
		return settings{}, fmt.Errorf("wire arguments: %w", err)
	}
	if f.NArg() != 0 {
		return settings{}, fmt.Errorf("wire arguments: %q is not understood", f.Arg(0))
	}
	return s, s.check()
}

func (s settings) check() error {
	if s.cpu < -1 {
		return fmt.Errorf("wire CPU %d: CPUs count from 0, -1 leaves the choice to the scheduler", s.cpu)
	}
	if s.mtu < MinMTU || s.mtu > MaxMTU {
		return fmt.Errorf("wire MTU %d is out of range: %d to %d bytes", s.mtu, MinMTU, MaxMTU)
	}
	return s.wire.Check()
}

// framer knows where a frame starts in what a TAP gives and how long it may
// be.
type framer struct {
	header int // bytes before the frame
	limit  int // most bytes of a frame that is one packet
	room   int // bytes of a buffer: one more than may come
}

// ethernetHeader is the bytes of an Ethernet header with one VLAN tag.
const ethernetHeader = 14 + 4

// maxSegmented is the most bytes of a frame that is to be segmented yet: the
// longest IP packet and its Ethernet header.
const maxSegmented = 65535 + ethernetHeader

func (s settings) framer() framer {
	f := framer{limit: s.mtu + ethernetHeader}
	f.room = f.limit + 1 // a TAP cuts silently what does not fit
	if s.vnetHdr {
		f.header = tuntap.VNetHdrSize
		f.room = f.header + maxSegmented + 1
	}
	return f
}

// fits tells whether what a TAP gave is a frame that the wire may pass. A
// frame that is still to be cut into packets is measured as a whole.
//
//go:nosplit
func (f *framer) fits(p []byte) bool {
	n := len(p) - f.header
	if n <= f.limit {
		return n >= 0
	}
	return f.header != 0 && p[1]&^tuntap.GSOECN != tuntap.GSONone && n <= maxSegmented
}
