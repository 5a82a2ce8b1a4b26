package traffic

import (
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// CountStray is the datagrams that came from elsewhere than from a flow of the
// test, and are in none of the other counts.
const CountStray = "stray"

// udpFlowReceiver is the remote end of udp_stream with several flows: a socket
// for each thread, all at one port.
type udpFlowReceiver struct {
	cfg   Config
	parts []*udpFlowPart
	flows flowTable
}

// flowTable has the flows of a test in the order in which they came to be
// known. Each is one thread's, since the kernel gives what comes from one
// address to one socket.
type flowTable struct {
	known    atomic.Int64
	trackers []tracker
}

// udpFlowPart is one thread of the receiver.
type udpFlowPart struct {
	udpReceiver
	method sourceReceiver
	peer   sys.Source
	flows  *flowTable
	// ports has the place of each source port's flow among the trackers, from
	// 1; 0 is one that nothing came from yet, and strayPort one that is none of
	// the test's.
	ports [1 << 16]uint16
	stray int64
}

const strayPort = 1<<16 - 1

func newUDPFlowReceiver(cfg Config) Engine { return &udpFlowReceiver{cfg: cfg} }

func (e *udpFlowReceiver) Prepare() (port uint16, err error) {
	// Memory that no flow uses is never touched.
	e.flows.trackers = make([]tracker, e.cfg.Test.Flows())
	sockets, port, err := openShared(e.cfg, e.cfg.Test.Threads())
	for _, s := range sockets {
		part := &udpFlowPart{flows: &e.flows}
		part.cfg, part.sock = e.cfg, s
		e.parts = append(e.parts, part)
		err = joined(err, part.prepare())
	}
	return port, err
}

func (p *udpFlowPart) prepare() error {
	clear(p.ports[:]) // so that there is real memory behind it
	p.mark = newStreamMark(p.cfg.Test.Params.Size)
	p.meter = meterOf(p.cfg)
	if err := p.sock.setTimeout(unix.SO_RCVTIMEO, pollTime); err != nil {
		return err
	}
	m, err := newSourceMethod(p.sock, p.cfg)
	if err != nil {
		return err
	}
	p.method, p.udpReceiver.method = m, m
	p.naps = newNapper(p.sock, m, p.cfg)
	return nil
}

func (e *udpFlowReceiver) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	for _, p := range e.parts {
		p.peer = sys.SourceOf(peer)
		n, err := p.sock.Drops()
		p.dropsBefore, p.noDrops = n, err != nil
		p.sock.lasts(&e.cfg)
	}
	return nil
}

func (e *udpFlowReceiver) Run() (result.End, error) {
	ends := make([]result.End, len(e.parts))
	err := crew(&e.cfg, len(e.parts), func(i int) error {
		p := e.parts[i]
		if err := p.naps.begin(); err != nil {
			return err
		}
		if err := p.loop(); err != nil {
			return err
		}
		p.sum()
		ends[i] = p.end()
		ends[i].Counts[CountStray] = p.stray
		return nil
	}, e.Stop)
	if err != nil {
		return result.End{}, err
	}
	return manyEnd(&e.cfg, ends), nil
}

// loop is the measured part, as that of one flow is.
func (p *udpFlowPart) loop() error {
	method := p.method
	for !p.stop.Load() || !p.drain.over() {
		n, errno := p.receive()
		if errno != 0 {
			if err := p.quiet(errno); err != nil {
				return err
			}
			continue
		}
		came, bytes := 0, 0
		for i := range n {
			t := p.flowOf(method.source(i))
			if t == nil {
				p.stray++
				continue
			}
			head, size := method.datagram(i)
			came++
			bytes += size
			if size >= p.mark.width {
				p.track(t, head)
			}
		}
		if came > 0 && p.meter.event(came, bytes, sys.Nanotime()) {
			p.turned()
		}
	}
	return nil
}

// flowOf is the tracker of the flow that a datagram is of, nil if it is of
// none.
//
//go:nosplit
func (p *udpFlowPart) flowOf(from *sys.Source) *tracker {
	if !from.SameHost(&p.peer) {
		return nil
	}
	place := p.ports[from.Port()]
	if place == 0 {
		place = p.meet(from.Port())
	}
	if place == strayPort {
		return nil
	}
	return &p.flows.trackers[place-1]
}

// meet gives a source port the next flow, if there is one.
//
//go:noinline
func (p *udpFlowPart) meet(port uint16) uint16 {
	place := uint16(strayPort)
	if n := p.flows.known.Add(1); n <= int64(len(p.flows.trackers)) {
		place = uint16(n)
	}
	p.ports[port] = place
	return place
}

// sum puts what the trackers of the thread's flows counted together.
func (p *udpFlowPart) sum() {
	for _, place := range p.ports[:] {
		if place != 0 && place != strayPort {
			t := &p.flows.trackers[place-1]
			p.tracker.all.add(&t.all)
			p.tracker.window.add(&t.window)
		}
	}
}

func (e *udpFlowReceiver) Stop() {
	for _, p := range e.parts {
		p.stop.Store(true)
	}
}

func (e *udpFlowReceiver) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *udpFlowReceiver) Close() error {
	var err error
	for _, p := range e.parts {
		err = joined(err, p.Close())
	}
	return err
}
