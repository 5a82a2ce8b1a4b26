package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// dialsAtOnce is how many connections are in the making at a time: a listener
// forgets those that come when its queue is full, and they wait for a second.
const dialsAtOnce = 128

// dialing makes TCP connections, several at a time, on non-blocking sockets.
type dialing struct {
	socks []*socket
	peer  netip.AddrPort
	set   sys.Epoll
	next  int // the first that is not begun
	made  int
}

// dialAll connects all sockets within a time.
func dialAll(socks []*socket, peer netip.AddrPort, limit time.Duration) error {
	set, err := sys.NewEpoll()
	if err != nil {
		return err
	}
	d := dialing{socks: socks, peer: peer, set: set}
	if err = d.all(limit); err != nil {
		err = fmt.Errorf("connect %d flows to %v: %d connections were made: %w", len(socks), peer, d.made, err)
		if errors.Is(err, unix.EADDRNOTAVAIL) {
			err = fewPorts(err, d.made, len(socks))
		}
	}
	return errors.Join(err, set.Close())
}

func (d *dialing) all(limit time.Duration) error {
	events := make([]unix.EpollEvent, dialsAtOnce)
	for until := time.Now().Add(limit); d.made < len(d.socks); {
		if err := d.begin(); err != nil {
			return err
		}
		if d.made == len(d.socks) {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("no answer for the others within %v: %w", limit, unix.ETIMEDOUT)
		}
		n, errno := d.set.Wait(events, manyWait)
		if errno != 0 && errno != unix.EINTR {
			return fmt.Errorf("wait for connections (epoll_wait): %w", errno)
		}
		for _, event := range events[:n] {
			if err := d.end(d.socks[event.Fd]); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin begins as many as may be in the making.
func (d *dialing) begin() error {
	for ; d.next < len(d.socks) && d.next-d.made < dialsAtOnce; d.next++ {
		s := d.socks[d.next]
		sa, err := s.sockaddr(d.peer)
		if err != nil {
			return err
		}
		if err := unix.SetNonblock(int(s.Sock), true); err != nil {
			return fmt.Errorf("make a %s non-blocking: %w", s.what, err)
		}
		switch err := unix.Connect(int(s.Sock), sa); err {
		case nil:
			d.made++
		case unix.EINPROGRESS, unix.EINTR:
			if err := d.set.Add(int(s.Sock), d.next, unix.EPOLLOUT|unix.EPOLLONESHOT); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

func (d *dialing) end(s *socket) error {
	code, err := unix.GetsockoptInt(int(s.Sock), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err == nil {
		d.made++
	}
	return err
}

// hangUpAll ends connections as hangUp does one, all within the limit.
func hangUpAll(socks []*socket, limit time.Duration) {
	for _, s := range socks {
		s.shutdown(unix.SHUT_WR)
	}
	until := sys.Nanotime() + int64(limit)
	for _, s := range socks {
		ended := false
		for !ended {
			left := until - sys.Nanotime()
			ready, err := sys.WaitReady(int(s.Sock), unix.POLLRDHUP, left)
			if ended = ready; left <= 0 || err != nil && err != unix.EINTR {
				break
			}
		}
		if !ended {
			_ = unix.SetsockoptLinger(int(s.Sock), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		}
	}
}

// hungUpFlows is how many of the connections the peer has ended.
func hungUpFlows(socks []*socket) (n int) {
	fds := make([]unix.PollFd, len(socks))
	for i, s := range socks {
		fds[i] = unix.PollFd{Fd: int32(s.Sock), Events: unix.POLLRDHUP}
	}
	if _, err := unix.Poll(fds, 0); err != nil {
		return 0
	}
	for _, fd := range fds {
		if fd.Revents != 0 {
			n++
		}
	}
	return n
}
