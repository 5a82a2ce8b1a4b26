//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// sending is what the senders of TCP streams have in common, whatever paces
// them and on how many connections.
type sending struct {
	cfg   *Config
	team  *team
	local bool
	conns []*socket
	meter meter
	stats *methodStats
	did   methodWindow
	// retransmits are the connections' at the window's two ends.
	retransmits [2]int64
	seen        phase // the latest of which turned has taken note
	hungUp      bool  // the peer of a remote end has gone
	short       bool  // the window was cut short
}

func newSendingHalf(cfg *Config, t *team, conns []*socket) sending {
	s := sending{cfg: cfg, team: t, local: cfg.Role == result.Local, conns: conns, meter: meterOf(*cfg)}
	s.meter.receives = false // a sender of either end sets the pace
	return s
}

// begin waits until the stream may begin: at a remote end, until the local one
// has asked for it on every connection. It is false if that never happened.
func (s *sending) begin() (bool, error) {
	if s.local {
		return true, nil
	}
	for _, c := range s.conns {
		if asked, err := c.awaitAsk(s.team.stop.Load); err != nil || !asked {
			return false, err
		}
	}
	return true, nil
}

// goesOn is asked when the window is over. A local end sends until a while
// after it, and a remote end until its peer hangs up.
//
//go:noinline
func (s *sending) goesOn(now int64) bool {
	if s.local {
		return now < s.meter.end.at+int64(coolTime) || s.team.counting.Load() > 0
	}
	return true
}

// turned reads the method's and the connections' counters where the window
// begins and ends.
//
//go:noinline
func (s *sending) turned() error {
	for s.seen < s.meter.phase {
		s.seen++
		s.did.turned(s.seen, s.stats)
		var err error
		switch s.seen {
		case open:
			err = s.countRetransmits(0)
		case closed:
			s.team.counting.Add(-1)
			err = s.countRetransmits(1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sending) countRetransmits(i int) error {
	s.retransmits[i] = 0
	for _, c := range s.conns {
		n, err := c.retransmits()
		if err != nil {
			return err
		}
		s.retransmits[i] += int64(n)
	}
	return nil
}

// refused deals with a send that failed. A peer that has gone ends a remote
// end's stream, and is an error at a local end.
//
//go:noinline
func (s *sending) refused(conn *socket, errno unix.Errno) error {
	switch errno {
	case unix.EAGAIN, unix.EINTR:
		return nil
	case unix.EPIPE, unix.ECONNRESET:
		if !s.local {
			s.hungUp = true
			return nil
		}
		return peerClosed(s.cfg, errno)
	}
	return conn.failed("send on", errno)
}

func peerClosed(cfg *Config, errno unix.Errno) error {
	if errno == 0 {
		return fmt.Errorf("the peer closed the connection of %s during the trial", cfg.Test.Name)
	}
	return fmt.Errorf("the peer closed the connection of %s during the trial: %w", cfg.Test.Name, errno)
}

// end ends the window where the stream ended before it. turned has to follow.
func (s *sending) end() {
	s.meter.stall(sys.Nanotime())
	s.short = s.meter.finish()
}

func (s *sending) result() result.End {
	var warnings []result.Warning
	for _, c := range s.conns {
		warnings = mergedWarnings(warnings, c.warnings)
	}
	if s.cfg.source != nil {
		warnings = mergedWarnings(warnings, s.cfg.source.warnings())
	}
	var end result.End
	if s.local {
		end = s.meter.result(result.Local)
		end.Warnings = warnings
	} else {
		end = s.meter.finished(result.Remote, s.short, warnings)
	}
	end.Counts = map[string]int64{}
	if tellsRetransmits {
		end.Counts[CountRetransmits] = s.retransmits[1] - s.retransmits[0]
	}
	s.did.sendCounts(end.Counts)
	return end
}

func (s *sending) parts() *Intervals { return s.meter.parts }

// part ends the connections, which stay there until they are closed, so that
// their counters can be read. A local end waits until all that it has sent has
// come in; at a remote end nobody waits for the rest any more.
func (s *sending) part() {
	if s.local {
		hangUpConns(s.conns, hangUpTime)
		return
	}
	for _, c := range s.conns {
		c.dropOnClose()
		c.shutdown(unix.SHUT_RDWR)
	}
}
