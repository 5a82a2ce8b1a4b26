//go:build linux || darwin || freebsd

package traffic

import (
	"math"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// receiving is what the receivers of TCP streams have in common, on however
// many connections.
type receiving struct {
	cfg   *Config
	team  *team
	local bool
	conns []*socket
	meter meter
	stats *methodStats
	did   methodWindow
	drain drain
	began int64 // when the stream was asked for
	seen  phase // the latest of which turned has taken note
	ended bool  // the peers have closed, or are waited for no longer
	short bool  // the window was cut short
}

func newReceivingHalf(cfg *Config, t *team, conns []*socket) receiving {
	r := receiving{cfg: cfg, team: t, local: cfg.Role == result.Local, conns: conns, meter: meterOf(*cfg)}
	r.meter.receives = true // a receiver of either end
	// What comes is no message but a piece of the stream.
	if q, size := r.meter.quota.messages, int64(cfg.Test.Params.Size); q > 0 {
		r.meter.quota = quota{bytes: min(q, math.MaxInt64/size) * size}
	}
	return r
}

// begin asks for the stream, at a local end; a remote one gets it unasked.
func (r *receiving) begin() error {
	r.began = sys.Nanotime()
	if !r.local {
		return nil
	}
	for _, c := range r.conns {
		if err := c.ask(r.cfg); err != nil {
			return err
		}
	}
	return nil
}

// over is asked when the window is over, and after Stop. A local end receives
// until all of its threads' windows are full; a remote one until the stream
// ends, or after Stop until nothing comes any more.
//
//go:noinline
func (r *receiving) over() bool {
	if r.local {
		return r.team.stop.Load() || r.meter.phase == closed && r.team.counting.Load() <= 0
	}
	return r.team.stop.Load() && r.drain.over()
}

//go:noinline
func (r *receiving) turned() {
	for r.seen < r.meter.phase {
		r.seen++
		r.did.turned(r.seen, r.stats)
		if r.seen == closed {
			r.team.counting.Add(-1)
		}
	}
}

// silence deals with a wait in which nothing came. A local end, which nobody
// stops, gives up a while after its window should have been full.
//
//go:noinline
func (r *receiving) silence() {
	r.drain.quiet = true
	now := sys.Nanotime()
	if r.meter.silence(now) {
		r.turned()
	}
	if r.local && now >= r.givesUp() {
		r.ended = true
	}
}

// givesUp is when a local end waits no longer for a message that closes its
// window.
func (r *receiving) givesUp() int64 {
	switch r.meter.phase {
	case idle:
		return r.began + int64(r.cfg.Warmup+r.cfg.Window+drainTime)
	case open:
		return r.meter.stop + int64(drainTime)
	}
	return math.MaxInt64
}

// gone deals with a peer that has closed its connection, with 0, or reset it.
// It is the way in which a remote end's stream ends. At a local end it is an
// error before the window is full.
func (r *receiving) gone(errno unix.Errno) error {
	if r.local && r.meter.phase != closed && !r.team.stop.Load() {
		return peerClosed(r.cfg, errno)
	}
	return nil
}

// end ends the window where the stream ended before it.
func (r *receiving) end() {
	r.short = r.meter.finish()
	r.turned()
}

func (r *receiving) result() result.End {
	var warnings []result.Warning
	for _, c := range r.conns {
		warnings = mergedWarnings(warnings, c.warnings)
	}
	end := r.meter.finished(r.cfg.Role, r.short, warnings)
	end.Counts = map[string]int64{}
	r.did.recvCounts(end.Counts, end.Messages)
	return end
}

func (r *receiving) parts() *Intervals { return r.meter.parts }

// part ends the connections, which stay there until they are closed, so that
// their counters can be read. The peer of a local end would send for ever: what
// comes now is answered with a reset.
func (r *receiving) part() {
	for _, c := range r.conns {
		if r.local {
			c.dropOnClose()
		}
		c.shutdown(unix.SHUT_RDWR)
	}
}
