package nft

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// answerTime is how long the kernel may take to answer, which it does at once unless
// it has to load modules.
const answerTime = 10 * time.Second

// conn is a netfilter socket. It belongs to the namespace that it was made in,
// whatever thread uses it. After an error it is only to be closed: answers of a
// call that failed may be in it.
type conn struct {
	fd       int
	sequence uint32
	buf      []byte
}

func dial(ns *sys.NetNS) (*conn, error) {
	c := &conn{buf: make([]byte, 1<<16)}
	err := ns.Do(func() (err error) {
		c.fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
		return os.NewSyscallError("socket", err)
	})
	if err == nil {
		wait := unix.NsecToTimeval(int64(answerTime))
		if err = unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
			err = errors.Join(os.NewSyscallError("setsockopt", err), c.close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open a netfilter socket: %w", err)
	}
	return c, nil
}

func (c *conn) close() error { return os.NewSyscallError("close", unix.Close(c.fd)) }

// change carries out all of the messages or none.
func (c *conn) change(messages ...message) error {
	mark := func(kind uint16) message { return message{kind: kind, resource: unix.NFNL_SUBSYS_NFTABLES} }
	first := c.sequence + 1
	batch := c.encoded(mark(unix.NFNL_MSG_BATCH_BEGIN))
	for _, m := range messages {
		m.flags |= unix.NLM_F_ACK
		batch = append(batch, c.encoded(m)...)
	}
	batch = append(batch, c.encoded(mark(unix.NFNL_MSG_BATCH_END))...)
	if err := c.send(batch); err != nil {
		return err
	}
	for due := len(messages); due > 0; {
		got, err := c.receive()
		if err != nil {
			return err
		}
		for _, a := range got {
			if a.kind != unix.NLMSG_ERROR || a.sequence < first {
				continue
			}
			if err := a.err(); err != nil {
				// The whole batch is refused in the name of its beginning.
				if i := int(a.sequence-first) - 1; i >= 0 && i < len(messages) {
					return fmt.Errorf("make %s: %w", messages[i].what, err)
				}
				return err
			}
			due--
		}
	}
	return nil
}

// ask sends a question and calls each with the attributes of every answer. A question
// without NLM_F_DUMP has one.
func (c *conn) ask(m message, each func([]attr)) error {
	if err := c.send(c.encoded(m)); err != nil {
		return err
	}
	for {
		got, err := c.receive()
		if err != nil {
			return err
		}
		for _, a := range got {
			if a.sequence != c.sequence {
				continue
			}
			switch {
			case a.kind == unix.NLMSG_ERROR, a.kind == unix.NLMSG_DONE:
				return a.err()
			case len(a.body) < sizeofGenericMessage:
				return errShort
			}
			attrs, err := decode(a.body[sizeofGenericMessage:])
			if err != nil {
				return err
			}
			each(attrs)
			if m.flags&unix.NLM_F_DUMP == 0 {
				return nil
			}
		}
	}
}

func (c *conn) encoded(m message) []byte {
	c.sequence++
	return m.encode(c.sequence)
}

func (c *conn) send(b []byte) error {
	return os.NewSyscallError("sendto", unix.Sendto(c.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}))
}

// receive is what one call brings, which the next one overwrites.
func (c *conn) receive() ([]answer, error) {
	for {
		n, _, err := unix.Recvfrom(c.fd, c.buf, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, os.NewSyscallError("recvfrom", err)
		}
		return answers(c.buf[:n])
	}
}
