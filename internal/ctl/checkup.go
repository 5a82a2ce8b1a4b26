package ctl

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"connectrpc.com/connect"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	controlv1 "netdelta/proto/controlv1"
)

// Look is what a checkup is asked for.
type Look struct {
	// Addr is the host's own address on the path and Peer the far end's, by
	// which the path's interface is found; either may be the zero Addr.
	Addr, Peer netip.Addr
	// Length is for how long the host is looked at, up to MaxLook.
	Length time.Duration
}

// MaxLook is for how long a host can be looked at.
const MaxLook = 10 * time.Second

const countersSchema = "netdelta.counters/1"

type countersDoc struct {
	Schema   string          `json:"schema"`
	Counters result.Counters `json:"counters"`
}

// Checkup tells what the host does while nothing is measured. An agent of an
// older program does not know how to; the error is then feature.ErrUnavailable.
func (c *Client) Checkup(ctx context.Context, l Look) (*result.Counters, error) {
	const step = "checkup"
	bound := c.opts.Bound + l.Length
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	res, err := c.rpc.Checkup(bounded, connect.NewRequest(&controlv1.CheckupRequest{
		Address: addrText(l.Addr), Peer: addrText(l.Peer), LengthMs: milliseconds(l.Length),
	}))
	switch {
	case err != nil && connect.CodeOf(err) == connect.CodeUnimplemented:
		return nil, &Error{Host: c.host, Step: step, Kind: feature.ErrUnavailable,
			Text: fmt.Sprintf("the agent there, netdelta %s, is too old to be looked at: install the same version at both ends", c.hello.Version)}
	case err != nil:
		return nil, c.fromWire(ctx, step, bound, err)
	}
	counted, err := decodeCounters(res.Msg.GetCounters())
	if err != nil {
		return nil, &Error{Host: c.host, Step: step, Text: err.Error(), Kind: err}
	}
	return counted, nil
}

func (s *server) Checkup(ctx context.Context, req *connect.Request[controlv1.CheckupRequest]) (*connect.Response[controlv1.CheckupResponse], error) {
	l, err := lookOf(req.Msg)
	if err != nil {
		return nil, toWire(fmt.Errorf("%w: %w", ErrInvalid, err))
	}
	counted, err := s.host.Checkup(ctx, l)
	if err != nil {
		return nil, toWire(err)
	}
	data, err := encode(countersDoc{countersSchema, *counted}, "counters of the host", maxEnd)
	return answer(&controlv1.CheckupResponse{Counters: data}, err)
}

// lookOf reads what a client asks for.
func lookOf(m *controlv1.CheckupRequest) (l Look, err error) {
	l.Length = time.Duration(m.GetLengthMs()) * time.Millisecond
	if l.Length <= 0 || l.Length > MaxLook {
		return Look{}, fmt.Errorf("length %v is out of range: 1ms to %v", l.Length, MaxLook)
	}
	for _, a := range []struct {
		text string
		into *netip.Addr
	}{{m.GetAddress(), &l.Addr}, {m.GetPeer(), &l.Peer}} {
		if a.text == "" {
			continue
		}
		if *a.into, err = netip.ParseAddr(a.text); err != nil {
			return Look{}, fmt.Errorf("%.60q is no IP address", a.text)
		}
	}
	return l, nil
}

// addrText is an address for a message; empty where there is none, or one that
// stands for any.
func addrText(a netip.Addr) string {
	if !a.IsValid() || a.IsUnspecified() {
		return ""
	}
	return a.String()
}

func decodeCounters(data []byte) (*result.Counters, error) {
	const what = "counters of the host"
	var doc countersDoc
	if err := decode(data, &doc, what, maxEnd); err != nil {
		return nil, err
	}
	if doc.Schema != countersSchema {
		return nil, fmt.Errorf("%s: schema %q, want %q", what, doc.Schema, countersSchema)
	}
	if err := doc.Counters.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &doc.Counters, nil
}
