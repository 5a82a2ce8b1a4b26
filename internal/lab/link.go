package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"netdelta/internal/netlab"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Knobs of a lab's link, as package spec's table has them.
const (
	knobLink    = "link"
	knobContext = "context"
	knobOffload = "offload"
	knobMTU     = "link-mtu"
	knobWire    = "wire"
	knobBusy    = "busy"
)

// errNoWire is a CPU for a wire where there is none.
var errNoWire = fmt.Errorf("a veth link has no wire to bind to a CPU: leave --cpu-wire out, or use --link %s", netlab.Ether)

// errNoHandler is a CPU for handlers where frames are handled in the call that brings
// them, or in softirq behind it.
var errNoHandler = errors.New("no context of the plan has a handler that could be bound to a CPU: leave --cpu-handler out, or take one with kernel threads or a backlog that is steered")

// link is the link that a variant's settings ask for; what they leave open is the
// lab's.
func (o Options) link(settings []spec.Setting, p places) (netlab.LinkConfig, error) {
	c := netlab.LinkConfig{Kind: o.Link, Context: o.Context, Offload: o.Offload, MTU: o.MTU, Wire: o.Wire, WireCPU: p.wire, HandlerCPU: p.handler}
	for _, s := range settings {
		row, arg, err := s.Row()
		if err != nil {
			return c, err
		}
		if row.Scope != spec.OnLink {
			continue
		}
		switch row.Name {
		case knobLink:
			c.Kind = s.Value
		case knobContext:
			c.Context = s.Value
		case knobOffload:
			c.Offload = s.Value == string(spec.On)
		case knobMTU:
			if c.MTU, err = strconv.Atoi(s.Value); err != nil {
				return c, fmt.Errorf("%s: %q is no number of bytes", s, s.Value)
			}
		case knobBusy:
			if c.Busy, err = busyOn(s.Value, p); err != nil {
				return c, fmt.Errorf("%s: %w", s, err)
			}
		case knobWire:
			if c.Wire, err = c.Wire.With(arg, s.Value); err != nil {
				return c, err
			}
		default:
			return c, fmt.Errorf("%s: no lab's link is made so", s)
		}
	}
	if c.Context == "" {
		c.Context = usualContext(c.Kind, c.Offload)
	}
	if c.MTU == 0 {
		c.MTU = netlab.DefaultMTU
	}
	return c, nil
}

// busyOn is the CPU that an end is kept busy on; empty for none.
func busyOn(end string, p places) (string, error) {
	cpu := sys.NoCPU
	switch end {
	case spec.EndLocal:
		cpu = p.local
	case spec.EndRemote:
		cpu = p.remote
	default:
		return "", nil
	}
	if cpu == sys.NoCPU {
		return "", fmt.Errorf("the %s end's thread is bound to no CPU that could be kept busy: give --cpu-%s", end, end)
	}
	return strconv.Itoa(cpu), nil
}

// usualContext is the context of a link of which nothing else is said; empty for
// a kind that is none. Frames that are not segmented pass a veth's NAPI by.
func usualContext(kind string, offload bool) string {
	if kind == netlab.Veth && offload {
		return "backlog"
	}
	i := slices.IndexFunc(rxDefaults, func(d rxDefault) bool { return d.link == kind })
	if i < 0 {
		return ""
	}
	return rxDefaults[i].levels[0]
}
