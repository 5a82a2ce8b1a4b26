package agent

import (
	"fmt"
	"strconv"
	"strings"

	"netdelta/internal/ctl"
	"netdelta/internal/traffic"
)

// Ports is a range of UDP and TCP ports, both ends in it. The zero value
// stands for any port.
type Ports struct{ Min, Max uint16 }

// ParsePorts reads a range as 7118-7150, or one port as 7118. "" is any port.
func ParsePorts(s string) (Ports, error) {
	if s == "" {
		return Ports{}, nil
	}
	low, high, isRange := strings.Cut(s, "-")
	if !isRange {
		high = low
	}
	a, errA := strconv.ParseUint(strings.TrimSpace(low), 10, 16)
	b, errB := strconv.ParseUint(strings.TrimSpace(high), 10, 16)
	if errA != nil || errB != nil || a == 0 || a > b {
		return Ports{}, fmt.Errorf("%q is no range of ports: want FIRST-LAST within 1-65535, as in 7118-7150", s)
	}
	return Ports{uint16(a), uint16(b)}, nil
}

// String is the range as ParsePorts reads it.
func (p Ports) String() string {
	switch {
	case p.Max == 0:
		return "any"
	case p.Min == p.Max:
		return strconv.Itoa(int(p.Min))
	}
	return fmt.Sprintf("%d-%d", p.Min, p.Max)
}

// apply makes one end's settings keep to the range, and refuses those that
// want another port.
func (p Ports) apply(c *traffic.Config) error {
	switch {
	case p.Max == 0:
		return nil
	case c.Port != 0 && (c.Port < p.Min || c.Port > p.Max):
		return fmt.Errorf("%w: port %d is none of this agent's data ports, %v", ctl.ErrInvalid, c.Port, p)
	case c.PortMax != 0 && (c.PortMin < p.Min || c.PortMax > p.Max):
		return fmt.Errorf("%w: ports %d to %d are not within this agent's data ports, %v", ctl.ErrInvalid, c.PortMin, c.PortMax, p)
	case c.Port == 0 && c.PortMax == 0:
		c.PortMin, c.PortMax = p.Min, p.Max
	}
	return nil
}
