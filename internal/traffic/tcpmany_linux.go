//go:build !portable

package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// WarnIdleFlows: some of a test's many flows carried nothing.
const WarnIdleFlows = "idle-flows"

// readyAtOnce is how many ready connections a thread is told of at once.
const readyAtOnce = 64

// spareFiles are the descriptors that an end needs beside those of its
// connections and threads: a listener, a file to send, and what the process
// opens for a moment. threadFiles are what a thread has: an epoll set or a ring,
// or a pipe and a device.
const spareFiles, threadFiles = 16, 3

// roomForFlows makes sure that this process may have so many connections.
func roomForFlows(cfg Config, n int) error {
	if need, err := sys.NeedFiles(n + threadFiles*cfg.Test.Threads() + spareFiles); err != nil {
		return fmt.Errorf("%d connections need %d file descriptors: %w", n, need, err)
	}
	return nil
}

// manyHalves shares more connections than threads out to these.
func manyHalves(cfg *Config, t *team, conns []*socket, sends bool) ([]half, error) {
	shares := make([][]*socket, cfg.Test.Threads())
	for i, c := range conns {
		shares[i%len(shares)] = append(shares[i%len(shares)], c)
	}
	all := make([]half, len(shares))
	for i, share := range shares {
		if sends {
			all[i] = newManyOut(cfg, t, share)
		} else {
			all[i] = newManyIn(cfg, t, share)
		}
	}
	return all, nil
}

// flowSet is a set of connections that one thread serves, each when it is ready:
// one call of at most maxChunk bytes, and then it is the next one's turn.
type flowSet struct {
	set    sys.Epoll
	made   bool
	events []unix.EpollEvent
	buffer []byte
	live   int // connections that have not ended
	calls  methodStats
	moved  []int64 // bytes of each connection in the whole trial
}

func newFlowSet(flows, bytes int) flowSet {
	return flowSet{events: make([]unix.EpollEvent, readyAtOnce), buffer: makeBuffers(1, min(bytes, maxChunk))[0], moved: make([]int64, flows)}
}

// watch puts the connections into the set.
func (m *flowSet) watch(conns []*socket, events uint32) (err error) {
	if m.set, err = sys.NewEpoll(); err != nil {
		return err
	}
	m.made, m.live = true, len(conns)
	for i, c := range conns {
		if err := m.set.Add(int(c.Sock), i, events); err != nil {
			return err
		}
	}
	return nil
}

// wait returns how many connections are ready.
//
//go:nosplit
func (m *flowSet) wait() (int, unix.Errno) {
	m.calls.calls++
	return m.set.Wait(m.events, int(pollTime.Milliseconds()))
}

// drop takes a connection that has ended out of the set.
func (m *flowSet) drop(c *socket) error {
	m.live--
	if err := unix.EpollCtl(int(m.set), unix.EPOLL_CTL_DEL, int(c.Sock), nil); err != nil {
		return fmt.Errorf("take a connection that has ended out of an epoll set (epoll_ctl): %w", err)
	}
	return nil
}

// warn adds a warning if some connections carried nothing and others did.
func (m *flowSet) warn(e result.End, role string) result.End {
	none := 0
	for _, n := range m.moved {
		if n == 0 {
			none++
		}
	}
	if none > 0 && none < len(m.moved) {
		e.Warnings = append(e.Warnings, result.Warning{
			Code:   WarnIdleFlows,
			Text:   fmt.Sprintf("some flows carried nothing at all at the %s end", role),
			Advice: "measure for longer, or take fewer flows: the figures are those of the others",
		})
	}
	return e
}

func (m *flowSet) close() error {
	if !m.made {
		return nil
	}
	m.made = false
	return m.set.Close()
}
