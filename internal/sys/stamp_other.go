//go:build !linux

package sys

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Stamper sends and receives without timestamps: this system has none of the kind.
type Stamper struct{ Sock Sock }

// NewStamper reports that this system has none.
func NewStamper(Sock) (*Stamper, error) { return nil, errors.ErrUnsupported }

// Send is Sock.Send.
func (s *Stamper) Send(p []byte, flags int) (int, unix.Errno) { return s.Sock.Send(p, flags) }

// Recv is Sock.Recv.
func (s *Stamper) Recv(p []byte, flags int, _ *StampTimes) (int, unix.Errno) {
	return s.Sock.Recv(p, flags)
}

// Collect does nothing.
func (s *Stamper) Collect(*StampTimes) {}

func realtime() int64 { return time.Now().UnixNano() }
