package netlab

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// Lab is two hosts and at most one link between them at a time.
type Lab struct {
	A, B *Host

	ipv6 bool

	mu   sync.Mutex
	link *Link

	reaping sync.WaitGroup
	reaped  []error // guarded by mu

	once   sync.Once
	closed error

	// before is asked before each step of Connect; tests make it fail.
	before func(step string) error
}

// New makes two hosts with no link. It needs to be root of the current user
// namespace (NeedUserNS).
func New() (*Lab, error) {
	if err := feature.NetNS.Err(); err != nil {
		return nil, fmt.Errorf("make a lab: %w", err)
	}
	sweepAll()
	l := &Lab{ipv6: hasIPv6()}
	var err error
	if l.A, err = newHost("a", prefixA, prefixA6); err == nil {
		l.B, err = newHost("b", prefixB, prefixB6)
	}
	for _, h := range []*Host{l.A, l.B} {
		if err == nil {
			err = h.settle(l.ipv6)
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close takes the link down, if there is one, and gives the hosts up. Their
// namespaces go when the last process or socket in them is gone. Later calls
// repeat the first one's answer.
func (l *Lab) Close() error {
	l.once.Do(func() { l.closed = l.close() })
	return l.closed
}

func (l *Lab) close() error {
	l.mu.Lock()
	link := l.link
	l.mu.Unlock()
	var errs []error
	if link != nil {
		errs = append(errs, link.Close())
	}
	l.reaping.Wait()
	errs = append(errs, l.reaped...)
	for _, h := range []*Host{l.A, l.B} {
		if h != nil {
			errs = append(errs, h.close())
		}
	}
	return errors.Join(errs...)
}

// reap runs a destruction that has to be waited for by Close only, which
// returns its error.
func (l *Lab) reap(destroy func() error) {
	l.reaping.Go(func() {
		if err := destroy(); err != nil {
			l.mu.Lock()
			l.reaped = append(l.reaped, err)
			l.mu.Unlock()
		}
	})
}

// NeedUserNS reports whether this process must become root of a user
// namespace to make a lab (sys.ReexecInUserNS); feature.UserNS tells whether
// it can.
func NeedUserNS() bool {
	for _, c := range []uint{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN} {
		if has, err := sys.HasCapability(c); err != nil || !has {
			return true
		}
	}
	return false
}
