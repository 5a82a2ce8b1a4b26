package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// Names of the documents that travel inside the messages, with their version.
const (
	configSchema = "netdelta.config/1"
	endSchema    = "netdelta.end/1"
	factsSchema  = "netdelta.environment/1"
)

// Limits of the documents, and of a whole message to an agent and from one, in
// bytes. What a host of many CPUs counts takes a kilobyte or two for each.
const (
	maxConfig  = 16 << 10
	maxEnd     = 8 << 20
	maxFacts   = 64 << 10
	maxRequest = maxConfig + 64<<10
	maxAnswer  = maxEnd + 64<<10
)

// Limits of the values in them.
const (
	maxCPU     = 1 << 16
	maxElapsed = 2*spec.MaxWindow + time.Hour // a window, a warm-up, and a host that was held up
)

type configDoc struct {
	Schema string         `json:"schema"`
	Config traffic.Config `json:"config"`
}

type endDoc struct {
	Schema string     `json:"schema"`
	End    result.End `json:"end"`
}

type factsDoc struct {
	Schema string        `json:"schema"`
	Facts  []result.Fact `json:"facts"`
}

// EncodeConfig is the wire form of one end's settings.
func EncodeConfig(c traffic.Config) ([]byte, error) {
	return encode(configDoc{configSchema, c}, "trial settings", maxConfig)
}

// DecodeConfig reads what EncodeConfig wrote. Settings that no engine could
// carry out are errors that name what would be right.
func DecodeConfig(data []byte) (traffic.Config, error) {
	var doc configDoc
	if err := decode(data, &doc, "trial settings", maxConfig); err != nil {
		return traffic.Config{}, err
	}
	if doc.Schema != configSchema {
		return traffic.Config{}, fmt.Errorf("trial settings: schema %q, want %q", doc.Schema, configSchema)
	}
	if err := checkConfig(doc.Config); err != nil {
		return traffic.Config{}, fmt.Errorf("trial settings: %w", err)
	}
	return doc.Config, nil
}

func checkConfig(c traffic.Config) error {
	if c.Role != result.Local && c.Role != result.Remote {
		return fmt.Errorf("role %q: valid are %s, %s", c.Role, result.Local, result.Remote)
	}
	complete, err := spec.NewTest(c.Test.Name, c.Test.Params)
	if err != nil {
		return err
	}
	if complete != c.Test {
		return fmt.Errorf("test %q lacks its defaults: want %q", c.Test, complete)
	}
	if c.Warmup < 0 || c.Warmup > spec.MaxWindow {
		return fmt.Errorf("warm-up %v is out of range: 0 to %v", c.Warmup, spec.MaxWindow)
	}
	if c.Window < spec.MinWindow || c.Window > spec.MaxWindow {
		return fmt.Errorf("window %v is out of range: %v to %v", c.Window, spec.MinWindow, spec.MaxWindow)
	}
	if err := spec.CheckInterval(c.Interval, c.Window); err != nil {
		return err
	}
	if c.CPU < -1 || c.CPU > maxCPU {
		return fmt.Errorf("CPU %d is out of range: -1 (none) to %d", c.CPU, maxCPU)
	}
	if !c.Addr.IsValid() || c.Addr.IsMulticast() {
		return fmt.Errorf("address %v cannot be bound to: give this end's address on the path", c.Addr)
	}
	if c.Addr.IsUnspecified() && !c.Peer.IsValid() {
		return fmt.Errorf("address %v leaves this end's address open: the peer's is needed to choose one", c.Addr)
	}
	if c.Peer.IsValid() && (c.Peer.IsUnspecified() || c.Peer.IsMulticast()) {
		return fmt.Errorf("peer %v is no single host's address", c.Peer)
	}
	if c.PortMin > c.PortMax || c.PortMin == 0 && c.PortMax != 0 {
		return fmt.Errorf("ports %d to %d are no range", c.PortMin, c.PortMax)
	}
	if c.Port != 0 && c.PortMax != 0 {
		return fmt.Errorf("both a port, %d, and a range of ports are given", c.Port)
	}
	return nil
}

// encodeFacts is the wire form of a host's facts.
func encodeFacts(f []result.Fact) ([]byte, error) {
	return encode(factsDoc{factsSchema, f}, "facts of the host", maxFacts)
}

// decodeFacts reads what encodeFacts wrote.
func decodeFacts(data []byte) ([]result.Fact, error) {
	var doc factsDoc
	if err := decode(data, &doc, "facts of the host", maxFacts); err != nil {
		return nil, err
	}
	if doc.Schema != factsSchema {
		return nil, fmt.Errorf("facts of the host: schema %q, want %q", doc.Schema, factsSchema)
	}
	for _, f := range doc.Facts {
		if f.Name == "" {
			return nil, errors.New("facts of the host: one has no name")
		}
	}
	return doc.Facts, nil
}

// EncodeEnd is the wire form of one end's figures.
func EncodeEnd(e *result.End) ([]byte, error) {
	return encode(endDoc{endSchema, *e}, "figures", maxEnd)
}

// DecodeEnd reads what EncodeEnd wrote. Figures that cannot be are errors.
func DecodeEnd(data []byte) (*result.End, error) {
	var doc endDoc
	if err := decode(data, &doc, "figures", maxEnd); err != nil {
		return nil, err
	}
	if doc.Schema != endSchema {
		return nil, fmt.Errorf("figures: schema %q, want %q", doc.Schema, endSchema)
	}
	e := &doc.End
	switch {
	case e.Role != result.Local && e.Role != result.Remote:
		return nil, fmt.Errorf("figures: role %q: valid are %s, %s", e.Role, result.Local, result.Remote)
	case e.Elapsed < 0 || e.Elapsed > maxElapsed:
		return nil, fmt.Errorf("figures: window of %v is out of range: 0 to %v", e.Elapsed, maxElapsed)
	case e.Messages < 0 || e.Bytes < 0:
		return nil, fmt.Errorf("figures: %d messages of %d bytes: neither can be negative", e.Messages, e.Bytes)
	}
	return e, nil
}

// ParsePeer reads the far end's address and port, as in 192.0.2.1:7118 or
// [2001:db8::1]:7118; the port is 0 where the test has none.
func ParsePeer(s string) (netip.AddrPort, error) {
	p, err := netip.ParseAddrPort(s)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("peer %q: want ADDRESS:PORT: %w", s, err)
	}
	if a := p.Addr(); a.IsUnspecified() || a.IsMulticast() {
		return netip.AddrPort{}, fmt.Errorf("peer %q is no single host's address", s)
	}
	return p, nil
}

func encode(doc any, what string, limit int) ([]byte, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", what, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("encode %s: %d bytes, at most %d", what, len(data), limit)
	}
	return data, nil
}

// decode reads exactly one document with no field that this version does not
// know.
func decode(data []byte, doc any, what string, limit int) error {
	if len(data) > limit {
		return fmt.Errorf("%s: %d bytes, at most %d", what, len(data), limit)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(doc); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more after the document's end", what)
	}
	return nil
}
