//go:build linux || darwin || freebsd

package traffic

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// half is what one thread of an end of a TCP stream does: it sends or receives,
// on connections of its own and by a meter of its own. Which end it belongs to
// decides how it ends: a local end's when its window is over, a remote end's
// when the peer hangs up or after Stop.
type half interface {
	// ready makes the method, unless that has been done. It is called on the
	// thread that runs the half.
	ready() error
	// run is called once. It gives up the method and ends the connections, which
	// closeHalves closes.
	run() error
	// result is for after run.
	result() result.End
	parts() *Intervals
	// close gives up what there is where run was not called.
	close() error
}

// team is what the halves of one end have in common.
type team struct {
	// stop ends them all: the local end has finished, or one of them failed.
	stop atomic.Bool
	// counting is how many halves of a local end have a window that is not
	// over. None ends before, so that each has the others' traffic beside it
	// for its whole window.
	counting atomic.Int32
	failed   atomic.Bool
	// unready is how many halves are not ready. None runs before all are, so
	// that their windows are the same.
	unready sync.WaitGroup
}

// fail ends the halves because of an error, which only the first one returns:
// what the others meet then mostly follows from it.
func (t *team) fail(err error) error {
	if err == nil {
		return nil
	}
	t.stop.Store(true)
	if t.failed.Swap(true) {
		return nil
	}
	return err
}

// sends and receives say whether an end has a stream to send, or to receive.
func sends(cfg *Config) bool {
	k := cfg.Test.Kind()
	return k.Sends() && cfg.Role == result.Local || k.Receives() && cfg.Role == result.Remote
}

func receives(cfg *Config) bool {
	k := cfg.Test.Kind()
	return k.Receives() && cfg.Role == result.Local || k.Sends() && cfg.Role == result.Remote
}

// openSource opens the file that an end sends, if it does: once for all its
// threads, before any of them begins.
func openSource(cfg *Config) error {
	if !sends(cfg) || !cfg.Test.SendMethod().File {
		return nil
	}
	p, err := sourceOf(*cfg)
	if err == nil {
		cfg.source = p
	}
	return err
}

// connections is how many a test's end has: the first is from the port that
// Prepare told. A stream each way has two, the first of which carries what the
// local end sends.
func connections(t spec.Test) int {
	if t.Kind().Pattern == spec.Duplex {
		return 2
	}
	return t.Flows()
}

// newSending is a half that sends, as fast as it can or at the test's rate.
func newSending(cfg *Config, t *team, conn *socket) (half, error) {
	if cfg.Test.OpenLoop() {
		return newPaced(cfg, t, conn)
	}
	return newOutgoing(cfg, t, conn)
}

// halves shares an end's connections out to its threads.
func halves(cfg *Config, t *team, conns []*socket) ([]half, error) {
	k, local := cfg.Test.Kind(), cfg.Role == result.Local
	if k.Pattern == spec.Duplex {
		out, in := conns[:1], conns[1:]
		if !local {
			out, in = in, out
		}
		send, err := newSending(cfg, t, out[0])
		if err != nil {
			return nil, err
		}
		receive, err := newIncoming(cfg, t, in[0])
		return []half{send, receive}, err
	}
	sends := k.Sends() == local
	if cfg.Test.Flows() > cfg.Test.Threads() {
		return manyHalves(cfg, t, conns, sends)
	}
	all := make([]half, len(conns))
	for i, c := range conns {
		var err error
		if sends {
			all[i], err = newSending(cfg, t, c)
		} else {
			all[i], err = newIncoming(cfg, t, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// runHalves runs all halves, the first one on the calling thread, and returns
// what the end of the test measured.
func runHalves(cfg *Config, t *team, all []half) (result.End, error) {
	t.counting.Store(int32(len(all)))
	t.unready.Add(len(all))
	part := func(i int) error {
		err := t.fail(all[i].ready())
		t.unready.Done()
		t.unready.Wait()
		if t.failed.Load() {
			return errors.Join(err, all[i].close())
		}
		return t.fail(all[i].run())
	}
	var err error
	if len(all) == 1 {
		err = part(0)
	} else {
		err = crew(cfg, len(all), part, func() { t.stop.Store(true) })
	}
	if err != nil {
		return result.End{}, err
	}
	ends := make([]result.End, len(all))
	for i, h := range all {
		ends[i] = h.result()
	}
	if cfg.Test.Kind().Pattern == spec.Duplex {
		return bothWays(ends[0], ends[1]), nil
	}
	return combined(ends), nil
}

// bothWays is the result of an end that sends a stream and receives another.
func bothWays(out, in result.End) result.End {
	end := out
	for name, n := range in.Counts {
		end.Counts[name] = n
	}
	end.Counts[result.CountReceivedBytes] = in.Bytes
	end.Counts[result.CountReceivedElapsed] = int64(in.Elapsed)
	end.Warnings = mergedWarnings(out.Warnings, in.Warnings)
	return end
}

// watched are the intervals that may be looked at while the traffic goes on:
// those of an end with one thread, or of what an end sends if it receives, too.
// Several threads' are only added up when all are over.
func watched(cfg *Config, all []half) *Intervals {
	if len(all) == 1 || len(all) > 1 && cfg.Test.Kind().Pattern == spec.Duplex {
		return all[0].parts()
	}
	return nil
}

func closeHalves(cfg *Config, all []half, conns []*socket) error {
	var errs []error
	for _, h := range all {
		errs = append(errs, h.close())
	}
	for _, c := range conns {
		errs = append(errs, c.close())
	}
	return errors.Join(append(errs, closeSource(cfg))...)
}

func closeSource(cfg *Config) error {
	if cfg.source == nil {
		return nil
	}
	return cfg.source.close()
}

func mergedWarnings(lists ...[]result.Warning) []result.Warning {
	var all []result.Warning
	for _, w := range slices.Concat(lists...) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}
