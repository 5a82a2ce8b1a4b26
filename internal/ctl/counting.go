package ctl

import (
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

// protocolCounting is the version of the protocol from which on a trial's
// settings say what its hosts are to count, and figures have what they counted.
// A side that speaks an older one refuses documents that have either.
const protocolCounting = 3

// forProtocol leaves out of the settings what a version of the protocol does
// not have.
func forProtocol(version uint32, cfg traffic.Config) traffic.Config {
	if version < protocolCounting {
		cfg.Counters, cfg.Soak, cfg.Baseline = nil, false, 0
		cfg.OneMachine, cfg.CPUScope = false, nil
	}
	return cfg
}

// figuresFor is the same of an end's figures, which stay as they are.
func figuresFor(version uint32, e *result.End) *result.End {
	if version >= protocolCounting || e.Counters == nil {
		return e
	}
	old := *e
	old.Counters = nil
	return &old
}

// Counts says whether an agent counts what its host does around a window: one
// of an older release does not.
func (h Hello) Counts() bool { return h.Protocol >= protocolCounting }
