package traffic

import (
	"net/netip"

	"netdelta/internal/result"
)

// udpFlows is the local end of udp_stream with several flows, each with a
// socket and numbers of its own: flow i belongs to thread i modulo the number
// of threads.
type udpFlows struct {
	cfg   Config
	parts []*udpSender
}

func newUDPFlows(cfg Config) Engine { return &udpFlows{cfg: cfg} }

func (e *udpFlows) Prepare() (port uint16, err error) {
	flows, threads := e.cfg.Test.Flows(), e.cfg.Test.Threads()
	if err := filesForFlows(e.cfg); err != nil {
		return 0, err
	}
	sockets, port, err := openFlowPorts(e.cfg, flows, threads)
	for i := range min(threads, len(sockets)) {
		var own []*socket
		for k := i; k < len(sockets); k += threads {
			own = append(own, sockets[k])
		}
		part := &udpSender{cfg: e.cfg}
		e.parts = append(e.parts, part)
		err = joined(err, part.prepare(own))
	}
	return port, err
}

func (e *udpFlows) Arm(peer netip.AddrPort) error {
	for _, p := range e.parts {
		if err := p.Arm(peer); err != nil {
			return err
		}
	}
	return nil
}

func (e *udpFlows) Run() (result.End, error) {
	ends := make([]result.End, len(e.parts))
	err := crew(&e.cfg, len(e.parts), func(i int) (err error) {
		ends[i], err = e.parts[i].Run()
		return err
	}, func() {
		for _, p := range e.parts {
			p.stop.Store(true)
		}
	})
	if err != nil {
		return result.End{}, err
	}
	return manyEnd(&e.cfg, ends), nil
}

func (e *udpFlows) Stop() {}

func (e *udpFlows) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *udpFlows) Close() error {
	var err error
	for _, p := range e.parts {
		err = joined(err, p.Close())
	}
	return err
}
