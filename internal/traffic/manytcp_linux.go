package traffic

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyTCPLocal is the end of tcp_rr that asks, on many connections.
type manyTCPLocal struct {
	cfg   Config
	socks []*socket // by flow
	sets  []sys.Epoll
	parts []*tcpAsker // by thread
	quit  atomic.Bool // a thread has failed
}

func newManyTCPLocal(cfg Config) Engine { return &manyTCPLocal{cfg: cfg} }

func (e *manyTCPLocal) Prepare() (port uint16, err error) {
	if err := checkMany(e.cfg); err != nil {
		return 0, err
	}
	cfg := e.cfg
	cfg.PortMin, cfg.PortMax = 0, 0 // the end that connects has no part in a range
	if e.socks, err = openManyFlows(cfg, openFlowTCP); err != nil {
		return 0, err
	}
	threads := e.cfg.Test.Threads()
	if e.sets, err = newEpolls(threads); err != nil {
		return 0, err
	}
	for i := range threads {
		e.parts = append(e.parts, newTCPAsker(e.cfg, flowsOf(i, len(e.socks), threads), e.sets[i], &e.quit))
	}
	return e.cfg.Port, nil
}

func (e *manyTCPLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	if err := dialAll(e.socks, peer, connectTime); err != nil {
		return err
	}
	for f, s := range e.socks {
		s.lasts(&e.cfg)
		if err := s.setConnOptions(e.cfg, true); err != nil {
			return err
		}
		part, i := e.parts[f%len(e.parts)], f/len(e.parts)
		part.flows[i].sock = s.Sock
		if err := part.set.Add(int(s.Sock), i, tcpEvents); err != nil {
			return err
		}
	}
	return nil
}

func (e *manyTCPLocal) Run() (result.End, error) {
	ends := make([]result.End, len(e.parts))
	err := crew(&e.cfg, len(e.parts), func(i int) (err error) {
		ends[i], err = e.parts[i].run()
		return err
	}, func() { e.quit.Store(true) })
	if errors.Is(err, errFlowEnded) {
		return result.End{}, fmt.Errorf("the peer closed %d of %d connections of %s during the trial: %w",
			max(hungUpFlows(e.socks), 1), len(e.socks), e.cfg.Test.Name, err)
	}
	if err != nil {
		return result.End{}, err
	}
	hangUpAll(e.socks, hangUpTime)
	end := manyEnd(&e.cfg, ends)
	end.Warnings = append(end.Warnings, socketWarnings(e.socks)...)
	if n := end.Counts[CountSent] - end.Messages; n > 0 {
		end.Warnings = append(end.Warnings, result.Warning{
			Code:   WarnUnfinished,
			Text:   fmt.Sprintf("%d round trips of %s had not ended %v after the window", n, e.cfg.Test.Name, unfinishedTime),
			Advice: "their times are in no figure: look at retransmissions and at the link",
		})
	}
	return end, nil
}

func (e *manyTCPLocal) Stop() {}

func (e *manyTCPLocal) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *manyTCPLocal) Close() error { return closeAll(e.socks, e.sets) }

// errFlowEnded is a connection that ended, or was reset, before its time.
var errFlowEnded = errors.New("a connection has ended")

// tcpAsker is a thread's part of the flows. What is made in newTCPAsker is all
// the memory that it needs.
type tcpAsker struct {
	set   sys.Epoll
	quit  *atomic.Bool
	meter meter
	rtt   *hist.Hist // of the window
	// samples is where round trips are recorded now.
	samples *hist.Hist

	flows  []tcpFlow
	times  []int64 // when each outstanding request was begun; a ring of burst for each flow
	events [manyEvents]unix.EpollEvent
	burst  int
	sizes  [2]int // of whole messages: request, response
	out    []byte // what is sent, again and again; at most maxChunk
	in     []byte

	begun       int   // flows that have asked already
	outstanding int   // begun requests of all flows
	end         int64 // when answers are waited for no longer
	err         error
}

// tcpFlow is one connection.
type tcpFlow struct {
	sock   sys.Sock
	oldest int // place of the oldest outstanding request in the flow's ring
	asked  int // requests that are begun and not answered
	owed   int // bytes of requests that are to be sent
	part   int // of these, those of a request that is begun
	got    int // bytes of the next response that are in
}

func newTCPAsker(cfg Config, flows int, set sys.Epoll, quit *atomic.Bool) *tcpAsker {
	w := &tcpAsker{
		set: set, quit: quit, meter: meterOf(cfg), rtt: hist.New(), samples: hist.New(),
		flows: make([]tcpFlow, flows),
		burst: cfg.Test.Burst(),
		sizes: [2]int{cfg.Test.RequestSize(), cfg.Test.ResponseSize()},
	}
	w.times = make([]int64, flows*w.burst)
	for i := range w.times {
		w.times[i] = 1 // so that there is real memory behind it
	}
	w.out = make([]byte, chunkOf(w.burst, w.sizes[0]))
	w.in = make([]byte, chunkOf(w.burst, w.sizes[1])+1)
	w.meter.time(w.rtt)
	return w
}

// chunkOf is how many bytes of a flow one call sends or receives at most.
func chunkOf(burst, size int) int { return min(burst*min(size, maxChunk), maxChunk) }

func (w *tcpAsker) run() (result.End, error) {
	w.loop()
	if w.err != nil {
		return result.End{}, w.err
	}
	end := w.meter.result(result.Local)
	end.RTT = w.rtt
	end.Counts = map[string]int64{CountSent: end.Messages + int64(w.outstanding)}
	return end, nil
}
