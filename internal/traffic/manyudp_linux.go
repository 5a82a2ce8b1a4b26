package traffic

import (
	"fmt"
	"math/bits"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// manyUDPLocal is the end of udp_rr that asks, from many sockets.
//
// A flow has a slot for each of its outstanding requests. A slot asks again when
// its answer is in or has been given up, so one that is lost holds up its slot
// and nothing else. The first bytes of a message, as many as both directions
// have, at most 8, are the request's number: the slot in the low bits, and above
// them how often it has asked.
type manyUDPLocal struct {
	cfg   Config
	socks []*socket // by flow
	sets  []sys.Epoll
	parts []*udpAsker // by thread
	quit  atomic.Bool // a thread has failed
}

func newManyUDPLocal(cfg Config) Engine { return &manyUDPLocal{cfg: cfg} }

// minRoundBits is how many bits of a number must be left beside the slot, so
// that an answer that comes late is not taken for that to a later request.
const minRoundBits = 4

// slotBits is how many bits of a request's number are the slot.
func slotBits(cfg Config) (int, error) {
	burst, width := cfg.Test.Burst(), rrNumberWidth(cfg)
	n := bits.Len(uint(burst - 1))
	if least := (n + minRoundBits + 7) / 8; width < least {
		return 0, fmt.Errorf("udp_rr with %d outstanding requests of a flow needs messages of %d bytes or more both ways, by whose numbers answers are told apart: they have %d", burst, least, width)
	}
	return n, nil
}

func (e *manyUDPLocal) Prepare() (port uint16, err error) {
	if err := checkMany(e.cfg); err != nil {
		return 0, err
	}
	shift, err := slotBits(e.cfg)
	if err != nil {
		return 0, err
	}
	if e.socks, err = openManyFlows(e.cfg, openUDPAt); err != nil {
		return 0, err
	}
	for _, s := range e.socks {
		if err := s.makeRoom(e.cfg, e.cfg.Test.Burst(), e.cfg.Test.ResponseSize()); err != nil {
			return 0, err
		}
	}
	threads := e.cfg.Test.Threads()
	if e.sets, err = newEpolls(threads); err != nil {
		return 0, err
	}
	for i := range threads {
		e.parts = append(e.parts, newUDPAsker(e.cfg, flowsOf(i, len(e.socks), threads), shift, e.sets[i], &e.quit))
	}
	sa, err := unix.Getsockname(int(e.socks[0].Sock))
	if err != nil {
		return 0, fmt.Errorf("read the port of a UDP socket: %w", err)
	}
	return addrPort(sa).Port(), nil
}

func (e *manyUDPLocal) Arm(peer netip.AddrPort) error {
	if err := checkPeer(e.cfg.Addr, peer); err != nil {
		return err
	}
	for f, s := range e.socks {
		if err := s.join(&e.cfg, peer); err != nil {
			return err
		}
		s.watchDrops()
		part, i := e.parts[f%len(e.parts)], f/len(e.parts)
		part.flows[i] = s.Sock
		if err := part.set.Add(int(s.Sock), i, udpEvents); err != nil {
			return err
		}
	}
	return nil
}

func (e *manyUDPLocal) Run() (result.End, error) {
	ends := make([]result.End, len(e.parts))
	err := crew(&e.cfg, len(e.parts), func(i int) (err error) {
		ends[i], err = e.parts[i].run()
		return err
	}, func() { e.quit.Store(true) })
	if err != nil {
		return result.End{}, err
	}
	end := manyEnd(&e.cfg, ends)
	end.Warnings = append(end.Warnings, socketWarnings(e.socks)...)
	var sent, received int64
	timeout := time.Duration(0)
	for _, w := range e.parts {
		sent += w.sentAll()
		received += w.receivedAll()
		timeout = max(timeout, w.timeout)
	}
	countAll(end.Counts, sent, received, e.socks...)
	if received == 0 {
		end.Warnings = append(end.Warnings, noTraffic)
	}
	if late := end.Counts[CountLate]; late > 0 {
		end.Warnings = append(end.Warnings, lateAnswers(late, end.Counts[CountSent], timeout))
	}
	return end, nil
}

func lateAnswers(late, sent int64, timeout time.Duration) result.Warning {
	return result.Warning{
		Code:   WarnLateAnswers,
		Text:   fmt.Sprintf("%d of %d requests were answered after the timeout of %v: these round trips are in the percentiles and not in the rate", late, sent, timeout),
		Advice: "the machine or the path stalled, or the warm-up was too short to learn how long a round trip takes",
	}
}

func (e *manyUDPLocal) Stop() {}

func (e *manyUDPLocal) Intervals() *Intervals {
	meters := make([]*meter, len(e.parts))
	for i, p := range e.parts {
		meters[i] = &p.meter
	}
	return manyIntervals(meters...)
}

func (e *manyUDPLocal) Close() error { return closeAll(e.socks, e.sets) }

// udpAsker is a thread's part of the flows. What is made in newUDPAsker is all
// the memory that it needs.
type udpAsker struct {
	set     sys.Epoll
	quit    *atomic.Bool
	meter   meter
	rtt     *hist.Hist // of the window
	samples *hist.Hist // where round trips are recorded now

	flows  []sys.Sock
	slots  []udpSlot     // burst of them for each flow
	lost   []lostRequest // lostBySlot of them for each slot
	events [manyEvents]unix.EpollEvent

	burst   int
	shift   int    // bits of the slot in a number
	rounds  uint64 // all ones in the bits of the round that a number has
	width   int    // bytes of the number
	request []byte
	// answer has room for one byte more than a right one, so that a longer one
	// is noticed.
	answer  []byte
	payload int // bytes of one round trip that count, both directions

	begun     int   // flows that have asked already
	unsent    int   // slots whose request found no room in the socket
	swept     int   // the slot at which the next search for overdue ones begins
	sweep     int64 // when that is due
	timeout   time.Duration
	longest   time.Duration // of the late answers before the window
	overdue   int64         // of the window: requests that were given up
	late      int64
	stale     int64
	waiting   int   // given up in the window, and remembered
	underWay  int   // after the window: not answered yet, nor given up
	lastHeard int64 // when an answer was late
	// Of the whole trial: requests that the kernel did not take, and answers
	// that are no messages of the meter.
	untaken, others int64
	err             error
}

// udpSlot is one of a flow's outstanding requests.
type udpSlot struct {
	round uint64 // how often it has asked
	sent  int64  // 0 if it waits for no answer
}

// lostRequest is one that was given up.
type lostRequest struct {
	round    uint64 // 0: none
	sent     int64
	inWindow bool // given up in the window
}

// lostBySlot is how many given-up requests of a slot are remembered.
const lostBySlot = 4

func newUDPAsker(cfg Config, flows, shift int, set sys.Epoll, quit *atomic.Bool) *udpAsker {
	request, response := cfg.Test.RequestSize(), cfg.Test.ResponseSize()
	w := &udpAsker{
		set: set, quit: quit, meter: meterOf(cfg), rtt: hist.New(), samples: hist.New(),
		flows: make([]sys.Sock, flows),
		burst: cfg.Test.Burst(), shift: shift, width: rrNumberWidth(cfg),
		request: make([]byte, request),
		answer:  make([]byte, response+1),
		payload: request + response,
		timeout: firstTimeout,
	}
	w.rounds = 1<<(8*w.width-shift) - 1
	w.slots = make([]udpSlot, flows*w.burst)
	w.lost = make([]lostRequest, len(w.slots)*lostBySlot)
	for i := range w.slots {
		w.slots[i].round = 1 // so that there is real memory behind it
	}
	for i := range w.lost {
		w.lost[i] = lostRequest{}
	}
	w.meter.time(w.rtt)
	return w
}

func (w *udpAsker) run() (result.End, error) {
	w.loop()
	if w.err == nil {
		w.awaitLate()
	}
	if w.err == nil && w.meter.phase == closed && w.sentAll() != w.receivedAll() {
		w.empty()
	}
	if w.err != nil {
		return result.End{}, w.err
	}
	end := w.meter.result(result.Local)
	end.RTT = w.rtt
	end.Counts = map[string]int64{
		CountSent:  end.Messages + w.overdue,
		CountLost:  w.overdue - w.late,
		CountLate:  w.late,
		CountStale: w.stale,
	}
	return end, nil
}
