package traffic

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// Round trips of many flows, or with many outstanding requests, on few threads.
//
// Each thread has a part of the flows, and waits for all of them with one epoll
// set. Events are edge-triggered: the kernel then does not look at each socket
// once more at the next wait. So a socket is
// read until it is known to be empty: a call brought less than there was room
// for, or all that was asked for is in. No call blocks: what does not fit into
// a socket's buffer is owed, and sent when there is room, while answers go on
// being read. So no size can block both ends.
//
// A message of one flow belongs to that flow alone; the meter and the
// histogram are the thread's. combined puts the threads' figures together.

const (
	// maxOutstanding is the most requests that a trial may have under way: each
	// takes some 80 bytes of memory here, and ten times that in the kernel.
	maxOutstanding = 1 << 20
	// manyEvents is how many events one wait brings at most.
	manyEvents = 256
	// manyStarts is how many flows begin at a time, between two looks at the
	// answers.
	manyStarts = 32
	// manyTurns is how many calls with maxChunk bytes a flow may have in a row
	// before it is another's turn.
	manyTurns = 16
	// manyWait is pollTime in milliseconds.
	manyWait = int(pollTime / time.Millisecond)
	// manySpare is how many descriptors a process may need beside those of its
	// flows.
	manySpare = 20
)

// What a flow's socket is watched for. A write-ready event of TCP comes only
// after a send that found the buffer full; one of UDP after every datagram, so
// that it is asked for when it is waited for.
const (
	tcpEvents        = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	udpEvents        = unix.EPOLLIN | unix.EPOLLET
	udpBlockedEvents = udpEvents | unix.EPOLLOUT
	readable         = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	hungUp           = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
)

// checkMany reports a test that asks for more than can be.
func checkMany(cfg Config) error {
	t := cfg.Test
	if n := t.Flows() * t.Burst(); n > maxOutstanding {
		return fmt.Errorf("%s: %d flows with %d requests each are %d outstanding requests: at most %d are possible",
			t.Name, t.Flows(), t.Burst(), n, maxOutstanding)
	}
	return nil
}

// filesForFlows makes sure that there can be a socket for each flow.
func filesForFlows(cfg Config) error {
	flows := cfg.Test.Flows()
	need, err := sys.NeedFiles(flows + cfg.Test.Threads() + manySpare)
	if err != nil {
		return fmt.Errorf("%d flows need %d file descriptors, %w", flows, need, err)
	}
	return nil
}

// flowsOf is how many of the flows the ith of the threads has: flow f belongs
// to thread f%threads, and is f/threads there.
func flowsOf(i, flows, threads int) int { return (flows - i + threads - 1) / threads }

// manyEnd puts together what the threads of an end counted. Threads that saw
// nothing at all don't take part, unless none saw anything: the kernel shares
// flows out to a remote end's threads as chance has it.
func manyEnd(cfg *Config, ends []result.End) result.End {
	var busy []result.End
	for _, e := range ends {
		if e.Messages > 0 || e.RTT != nil && e.RTT.Count() > 0 { // late answers are no messages
			busy = append(busy, e)
		}
	}
	if len(busy) == 0 {
		busy = ends[:1]
	}
	all := cfg.share.spanned(combined(busy))
	if len(busy) < len(ends) && len(ends[0].Counts) > 0 {
		counts := map[string]int64{}
		for _, e := range ends {
			for name, n := range e.Counts {
				counts[name] += n
			}
		}
		all.Counts = counts
	}
	return all
}

// manyIntervals are those that others may look at while a trial runs: one
// thread's are the end's, several threads' are put together when all are over.
func manyIntervals(meters ...*meter) *Intervals {
	if len(meters) != 1 {
		return nil
	}
	return meters[0].parts
}

// socketWarnings are the different warnings of sockets.
func socketWarnings(socks []*socket) []result.Warning {
	seen := map[result.Warning]bool{}
	var all []result.Warning
	for _, s := range socks {
		for _, w := range s.warnings {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	return all
}

// closeAll closes sockets and epoll sets, of which some may not have been made.
func closeAll(socks []*socket, sets []sys.Epoll) error {
	var first error
	for _, s := range socks {
		if err := s.close(); err != nil && first == nil {
			first = err
		}
	}
	for i, e := range sets {
		if e < 0 {
			continue
		}
		sets[i] = -1
		if err := e.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// newEpolls makes a set for each thread.
func newEpolls(n int) (sets []sys.Epoll, err error) {
	for range n {
		e, err := sys.NewEpoll()
		if err != nil {
			return sets, err
		}
		sets = append(sets, e)
	}
	return sets, nil
}

// divide is how many whole messages of a size, at least 1, so many bytes are,
// and what is left over. Most often it is none or one.
//
//go:nosplit
func divide(bytes, size int) (whole, rest int) {
	switch {
	case bytes < size:
		return 0, bytes
	case bytes == size:
		return 1, 0
	case size == 1:
		return bytes, 0
	}
	return bytes / size, bytes % size
}

// untilNext is how many of the bytes owed, of messages of one size, are the
// first message's.
//
//go:nosplit
func untilNext(owed, size int) int {
	if _, part := divide(owed, size); part > 0 {
		return part
	}
	return size
}
