package knob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// How a peer is asked whether it is there.
const (
	echoes   = 3 // in a row
	echoWait = 250 * time.Millisecond
	// firstEchoes are sent to a peer of which nothing is known: the first may go
	// while its link address is asked for.
	firstEchoes = 4
)

// pinger sends ICMP echo requests to one peer and sees its replies.
type pinger struct {
	conn  *icmp.PacketConn
	to    net.Addr
	ask   icmp.Type
	reply icmp.Type
	proto int
	word  []byte // in each request, so that a reply to somebody else's is none
	seq   int
}

// openPinger opens a socket in the place's namespace: one that any user may have
// where net.ipv4.ping_group_range allows, or else a raw one (icmp(7)).
func openPinger(p Place, addr, peer netip.Addr) (*pinger, error) {
	peer = peer.Unmap()
	g := &pinger{ask: ipv4.ICMPTypeEcho, reply: ipv4.ICMPTypeEchoReply, proto: 1, word: make([]byte, 16)}
	datagram, raw, wildcard := "udp4", "ip4:icmp", "0.0.0.0"
	if peer.Is6() {
		g.ask, g.reply, g.proto = ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply, 58
		datagram, raw, wildcard = "udp6", "ip6:ipv6-icmp", "::"
	}
	if _, err := rand.Read(g.word); err != nil {
		return nil, err
	}
	from := []string{wildcard}
	if addr = addr.Unmap(); addr.IsValid() && !addr.IsUnspecified() && addr.Is6() == peer.Is6() {
		from = []string{addr.String(), wildcard}
	}
	err := p.in(func() error {
		var all error
		for _, kind := range []string{datagram, raw} {
			for _, local := range from {
				conn, err := icmp.ListenPacket(kind, local)
				if err == nil {
					g.conn = conn
					g.to = &net.UDPAddr{IP: peer.AsSlice(), Zone: peer.Zone()}
					if kind == raw {
						g.to = &net.IPAddr{IP: peer.AsSlice(), Zone: peer.Zone()}
					}
					return nil
				}
				all = errors.Join(all, err)
			}
		}
		return all
	})
	if err != nil {
		return nil, fmt.Errorf("open an ICMP socket to see whether %s answers: %w: run as root, or allow it with net.ipv4.ping_group_range", peer, err)
	}
	return g, nil
}

func (g *pinger) close() { g.conn.Close() }

// echo says whether a request is answered in time. What keeps it from being sent,
// such as a route that is not there yet, is no answer.
func (g *pinger) echo(ctx context.Context) bool {
	g.seq = (g.seq + 1) & 0xffff
	m := icmp.Message{Type: g.ask, Body: &icmp.Echo{ID: 1, Seq: g.seq, Data: g.word}}
	data, err := m.Marshal(nil)
	if err != nil {
		return false
	}
	end := time.Now().Add(echoWait)
	if limit, ok := ctx.Deadline(); ok && limit.Before(end) {
		end = limit
	}
	if g.conn.SetReadDeadline(end) != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { g.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := g.conn.WriteTo(data, g.to); err != nil {
		return false
	}
	buf := make([]byte, 1500)
	for {
		n, _, err := g.conn.ReadFrom(buf)
		if err != nil {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() || time.Now().After(end) || ctx.Err() != nil {
				return false
			}
			continue // an ICMP error of an earlier request
		}
		got, err := icmp.ParseMessage(g.proto, buf[:n])
		if err != nil || got.Type != g.reply {
			continue
		}
		if e, ok := got.Body.(*icmp.Echo); ok && e.Seq == g.seq && bytes.Equal(e.Data, g.word) {
			return true
		}
	}
}

// answers says whether the peer answers at all.
func answers(ctx context.Context, p Place, addr, peer netip.Addr) (bool, error) {
	g, err := openPinger(p, addr, peer)
	if err != nil {
		return false, err
	}
	defer g.close()
	for range firstEchoes {
		if g.echo(ctx) {
			return true, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// waitAnswers returns when the peer has answered some echoes in a row.
func waitAnswers(ctx context.Context, p Place, addr, peer netip.Addr) error {
	g, err := openPinger(p, addr, peer)
	if err != nil {
		return err
	}
	defer g.close()
	row := 0
	for row < echoes {
		err := waitFor(ctx, func(ctx context.Context) (bool, error) {
			if !g.echo(ctx) {
				row = 0
				return false, nil
			}
			row++
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
