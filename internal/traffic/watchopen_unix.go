//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"netdelta/internal/counters/trace"
	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// prepare opens what tells where messages are, before any socket: the sharpest that
// can be had, or what was asked for.
func (w *watcher) prepare(cfg *Config) error {
	w.cfg, w.next, w.by = cfg, never, result.SeenByClock
	how := cfg.Test.Params.Explain
	if how == "" {
		return nil
	}
	w.on = true
	w.window = int64(cfg.Window)
	w.room = make([]sighting, 0, result.MaxSeen)
	if how == spec.ExplainAuto || how == spec.ExplainBPF {
		err := w.trace()
		switch {
		case err == nil:
			return nil
		case how == spec.ExplainBPF:
			return err
		}
		w.lacks(result.SeenByBPF, err)
	}
	if how != spec.ExplainClock {
		w.by = result.SeenByStamps
	}
	return nil
}

// trace opens the programs in the kernel. Where both ends are on one machine those of
// the end that asks see the other's messages, too, and that one needs none.
func (w *watcher) trace() (err error) {
	if w.cfg.OneMachine && w.cfg.Role == result.Remote {
		return trace.Available()
	}
	if w.tracer, err = trace.Open(true); err == nil {
		w.by, w.gate = result.SeenByBPF, w.tracer.Gate()
	}
	return err
}

func (w *watcher) lacks(source string, err error) {
	w.missing = append(w.missing, result.Fact{Name: source, Value: err.Error()})
}

// arm says which messages are watched, when the socket is connected.
func (w *watcher) arm(s *socket, peer netip.AddrPort) error {
	if !w.on {
		return nil
	}
	w.offset, _ = sys.RealOffset()
	if w.by == result.SeenByStamps {
		var err error
		if w.stamper, err = sys.NewStamper(s.Sock); err != nil {
			if w.cfg.Test.Params.Explain == spec.ExplainStamps {
				return &feature.Error{Feature: "timestamps of messages", Tried: "set SO_TIMESTAMPING", Need: "Linux", Kernel: feature.Kernel().String(), Err: err}
			}
			w.stamper, w.by = nil, result.SeenByClock
			w.lacks(result.SeenByStamps, err)
		}
	}
	if w.tracer == nil {
		return nil
	}
	sa, err := unix.Getsockname(int(s.Sock))
	if err != nil {
		return err
	}
	own := netip.AddrPortFrom(w.cfg.Addr, addrPort(sa).Port())
	f := trace.Flow{Protocol: protocolOf(w.cfg), From: own, To: peer}
	if f.Protocol == unix.IPPROTO_ICMP || f.Protocol == unix.IPPROTO_ICMPV6 {
		f.From, f.To = netip.AddrPortFrom(own.Addr(), 0), netip.AddrPortFrom(peer.Addr(), 0)
	}
	if w.cfg.Role == result.Remote {
		f.From, f.To = f.To, f.From
	}
	return errors.Join(w.tracer.Watch(f), w.tracer.Enlist())
}

func protocolOf(cfg *Config) int {
	switch cfg.Test.Kind().Protocol {
	case spec.UDP:
		return unix.IPPROTO_UDP
	case spec.TCP:
		return unix.IPPROTO_TCP
	}
	if family(cfg.Addr) == unix.AF_INET6 {
		return unix.IPPROTO_ICMPV6
	}
	return unix.IPPROTO_ICMP
}

func (w *watcher) close() error { return w.tracer.Close() }
