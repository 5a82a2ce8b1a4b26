package lab

import (
	"fmt"
	"slices"
	"time"

	"netdelta/internal/findings"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
	"netdelta/internal/unit"
)

var sendPath = Experiment{
	Name:     "send-path",
	Question: "What does each way to send cost both ends, with and without offloads, at a fixed rate and at full speed?",
	Page:     "send-path.md",
	Links:    []string{netlab.Ether},
	// Twice the buffer is less than the wire's queue, so that a rate is held by what
	// the sender may have under way and not by what is dropped.
	Tests:   "tcp_stream sndbuf=128KiB",
	Metrics: []string{result.Goodput, result.CPUThreadsPerByte, result.CPUSoakPerByte, result.CPUPerByte},
	Blocks:  7,
	Window:  80 * time.Millisecond,
	Soak:    true,
	Offload: true,
	// What the wire takes is in the sender's figures then, alike in all variants;
	// left to the scheduler it is now in one end's and now in the other's.
	Bound:   true,
	Brief:   true,
	factors: func(Options) ([]factor, error) { return []factor{sendsHere(), transmit, rates}, nil },
	finders: []findings.Finder{findings.SendPath},
}

// sends is the factor of the ways to hand bytes to the kernel.
var sends = factor{
	name:  "send",
	about: "how bytes of a file, or of memory, get to the kernel",
	usual: []string{"read+write", "write", "sendfile", "splice", "zerocopy", "uring-zc"},
	valid: tcpSends(),
	settings: func(level string) ([]spec.Setting, error) {
		return []spec.Setting{onTest("send", level)}, nil
	},
}

// sendsHere is that factor without the usual methods that this system refuses.
func sendsHere() factor {
	f := sends
	f.usual = nil
	for _, name := range sends.usual {
		test, err := spec.NewTest("tcp_stream", spec.Params{Send: name})
		if err == nil && test.SendMethod().File {
			test.Params.FileSize = 1 // it is only tried whether there can be one
		}
		if err == nil {
			err = traffic.Refused(test, result.Local)
		}
		if err != nil && len(f.usual) > 0 { // nothing is compared without the first
			f.missing = append(f.missing, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		f.usual = append(f.usual, name)
	}
	return f
}

// tcpSends are the names of the methods that TCP has.
func tcpSends() []string {
	var names []string
	for _, m := range spec.SendMethods() {
		if slices.Contains(m.Protocols, spec.TCP) {
			names = append(names, m.Name)
		}
	}
	return names
}

// transmits is the table of what the sender's interface does for it. Where it has no
// scatter-gather the kernel puts each frame together by copying, and where it makes
// no checksums, by reading. Neither needs the other (net/core/dev.c), but for
// segmentation, which needs both; without that the kernel segments in software, just
// before the interface. The knob tso has a third feature, which a TAP never gives
// (tx-tcp-ecn-segmentation), so the two that matter are set by their names.
var transmits = []struct {
	level             string
	checksum, sg, tso spec.Switch
}{
	{"csum+sg", spec.On, spec.On, spec.Off},
	{"csum", spec.On, spec.Off, spec.Off},
	{"sg", spec.Off, spec.On, spec.Off},
	{"none", spec.Off, spec.Off, spec.Off},
	{"tso", spec.On, spec.On, spec.On},
}

// transmit is the factor of the offloads of the sender's interface.
var transmit = factor{
	name:  "tx",
	about: "what the sender's interface does: checksums, frames of several pieces, segmentation",
	// Where frames are segmented late, what a byte costs shows beside what a packet
	// costs.
	condition: true,
	usual:     []string{"tso", "none"},
	valid:     transmitLevels(),
	settings: func(level string) ([]spec.Setting, error) {
		for _, t := range transmits {
			if t.level == level {
				at := func(knob string, value spec.Switch) spec.Setting {
					return spec.Setting{End: spec.EndLocal, Knob: knob, Value: string(value)}
				}
				return []spec.Setting{at("tx-checksum", t.checksum), at("sg", t.sg), at("feature.tx-tcp-segmentation", t.tso), at("feature.tx-tcp6-segmentation", t.tso)}, nil
			}
		}
		return nil, fmt.Errorf("no such offloads")
	},
}

func transmitLevels() []string {
	var names []string
	for _, t := range transmits {
		names = append(names, t.level)
	}
	return names
}

// fullSpeed is the level of a wire that holds no rate.
const fullSpeed = "full"

// rates is the condition of the wire's rate. All its levels are by the same delay
// line, so that they differ in the rate alone.
var rates = factor{
	name:      "rate",
	about:     "the rate that the wire holds, of whole frames",
	condition: true,
	usual:     []string{"100Mbit/s", fullSpeed},
	forms:     []string{fullSpeed, "BITRATE"},
	settings: func(level string) ([]spec.Setting, error) {
		value := level
		if level == fullSpeed {
			value = spec.None
		} else if _, err := unit.ParseBitRate(level); err != nil {
			return nil, fmt.Errorf("valid are %s, and rates as in 100Mbit/s: %w", fullSpeed, err)
		}
		return []spec.Setting{onWire("line", "on"), onWire("rate", value)}, nil
	},
}
