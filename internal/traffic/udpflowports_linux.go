package traffic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// firstPort is the lowest that a flow gets where no range is given: those
// below are for services.
const firstPort = 1024

// openFlowPorts opens a UDP socket for each flow. Flow i has a port with port
// modulo threads = i modulo threads, by which the other end shares the flows
// out to as many threads evenly. It returns the first flow's port, which is the
// one that is given, if one is.
func openFlowPorts(cfg Config, flows, threads int) (sockets []*socket, first uint16, err error) {
	if given := int(cfg.Port); given%threads != 0 {
		return nil, 0, fmt.Errorf("%d threads can't have port %d: with several the first flow's port is a multiple of their number, by which the other end shares the flows out (take port %d)",
			threads, given, max(given-given%threads, threads))
	}
	s, first, err := openUDP(cfg)
	if err != nil {
		return nil, 0, err
	}
	lowest, highest := firstPort, 1<<16-1
	if cfg.PortMax != 0 {
		lowest, highest = int(cfg.PortMin), int(cfg.PortMax)
	}
	if int(first)%threads == 0 {
		sockets = append(sockets, s)
	} else if err := s.close(); err != nil {
		return nil, 0, err
	}
	next := int(first)
	for len(sockets) < flows {
		var port uint16
		if s, port, err = openInTurn(cfg, next, lowest, highest, threads, len(sockets)%threads); err != nil {
			return sockets, first, fmt.Errorf("flow %d of %d: %w", len(sockets)+1, flows, err)
		}
		if sockets = append(sockets, s); len(sockets) == 1 {
			first = port
		}
		next = int(port) + 1
	}
	return sockets, first, nil
}

// openInTurn opens the first free port from next on, and from lowest after
// highest, that has the remainder.
func openInTurn(cfg Config, next, lowest, highest, modulus, remainder int) (*socket, uint16, error) {
	n := highest - lowest + 1
	for i := range n {
		port := lowest + (next-lowest+i)%n
		if port < lowest || port%modulus != remainder {
			continue
		}
		cfg.Port = uint16(port)
		s, got, err := openUDPAt(cfg)
		if !errors.Is(err, unix.EADDRINUSE) {
			return s, got, err
		}
	}
	return nil, 0, fmt.Errorf("no free port from %d to %d is left that is %d modulo %d: %w (take fewer flows, or give the agent more, --data-ports)",
		lowest, highest, remainder, modulus, unix.EADDRINUSE)
}
