//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// openUDP makes a bound UDP socket.
func openUDP(cfg Config) (*socket, uint16, error) { return inRange(cfg, openUDPAt) }

// listenTCP makes a listening TCP socket.
func listenTCP(cfg Config) (*socket, uint16, error) { return inRange(cfg, listenTCPAt) }

// inRange opens a socket at the first free port of the configuration's range,
// if there is one. It begins anywhere in it, so that a port rests between two
// trials.
func inRange(cfg Config, open func(Config) (*socket, uint16, error)) (*socket, uint16, error) {
	if cfg.PortMax == 0 {
		return open(cfg)
	}
	if cfg.PortMin == 0 || cfg.PortMin > cfg.PortMax {
		return nil, 0, fmt.Errorf("ports %d to %d are no range", cfg.PortMin, cfg.PortMax)
	}
	n := int(cfg.PortMax-cfg.PortMin) + 1
	start := rand.IntN(n)
	for i := range n {
		cfg.Port = cfg.PortMin + uint16((start+i)%n)
		s, port, err := open(cfg)
		if !errors.Is(err, unix.EADDRINUSE) {
			return s, port, err
		}
	}
	return nil, 0, fmt.Errorf("every data port from %d to %d is in use: %w (wait for other trials to end, or give the agent more, --data-ports)",
		cfg.PortMin, cfg.PortMax, unix.EADDRINUSE)
}

// reuse lets a socket have a chosen port although connections of an earlier
// trial are still in TIME_WAIT there (SO_REUSEADDR of socket(7)). One that
// another socket listens at it does not get.
func (s *socket) reuse() error {
	if err := unix.SetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("set SO_REUSEADDR of a %s: %w", s.what, err)
	}
	return nil
}
