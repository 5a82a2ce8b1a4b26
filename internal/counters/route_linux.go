package counters

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// routes asks the kernel about the interfaces of the network namespace that it
// was opened in (rtnetlink(7)).
type routes struct{ handle *nl.SocketHandle }

func openRoutes() (*routes, error) {
	s, err := nl.Subscribe(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	if err := s.SetReceiveTimeout(&nl.SocketTimeoutTv); err != nil {
		s.Close()
		return nil, fmt.Errorf("limit the wait of a netlink socket: %w", err)
	}
	return &routes{&nl.SocketHandle{Socket: s}}, nil
}

// ask sends a request and returns the answers, without their headers.
func (r *routes) ask(request, answer, flags int, body nl.NetlinkRequestData) ([][]byte, error) {
	const attempts = 3
	for i := 1; ; i++ {
		req := nl.NewNetlinkRequest(request, flags)
		req.AddData(body)
		req.Sockets = map[int]*nl.SocketHandle{unix.NETLINK_ROUTE: r.handle}
		answers, err := req.Execute(unix.NETLINK_ROUTE, uint16(answer))
		if i == attempts || !errors.Is(err, nl.ErrDumpInterrupted) {
			return answers, err
		}
	}
}

// attributes are those that follow the first bytes of an answer.
func attributes(answer []byte, head int) ([]syscall.NetlinkRouteAttr, error) {
	if len(answer) < head {
		return nil, fmt.Errorf("an answer of netlink has %d bytes, which are fewer than %d", len(answer), head)
	}
	return nl.ParseRouteAttr(answer[head:])
}

// attribute is the number of an attribute without its flags.
func attribute(a *syscall.NetlinkRouteAttr) int { return int(a.Attr.Type & nl.NLA_TYPE_MASK) }

func (r *routes) close() error {
	r.handle.Socket.Close()
	return nil
}
