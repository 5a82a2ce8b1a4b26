package run

import (
	"context"
	"fmt"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

// usual are MTUs that paths often have, in bytes: the least of IPv4 and of
// IPv6, those that tunnels leave, Ethernet's, and that of jumbo frames.
var usual = []int{576, 1280, 1400, 1420, 1450, 1480, 1492, 1500, 4000, 9000}

// probeWindow is longer than a request waits for its answer, so that what is
// lost by chance is sent again.
const probeWindow = 250 * time.Millisecond

// explainSilence finds out why nothing came through in a trial: whether no
// datagram passes the path, or only none of that size. It does so once for
// each test; its probes are datagrams outside of any trial.
func (r *runner) explainSilence(ctx context.Context, t *result.Trial) {
	if !silence(t) || r.Remote == nil {
		return
	}
	why, known := r.silent[t.Test]
	if !known {
		var err error
		if why, err = r.findLimit(ctx, t.Test); err != nil {
			// The trial stands. A host that has gone, or an interrupt, ends
			// the next one, in its words.
			r.release(ctx, err)
			return
		}
		r.silent[t.Test] = why
	}
	t.Warnings = append(t.Warnings, why...)
}

// silence says that no message came to the end where the test counts them.
func silence(t *result.Trial) bool {
	if t.Test.Kind().Pattern == spec.Stream {
		return t.Remote != nil && t.Remote.Messages == 0
	}
	return t.Local.Messages == 0
}

// findLimit looks for the largest datagram that passes in the directions in
// which the test sends its messages.
func (r *runner) findLimit(ctx context.Context, test spec.Test) ([]result.Warning, error) {
	passes := func(size int) (bool, error) { return r.passes(ctx, shape(test, size)) }
	largest := largestDatagram(test)
	if ok, err := passes(1); err != nil {
		return nil, err
	} else if !ok {
		return []result.Warning{{
			Code:   CodeBlocked,
			Text:   "not even UDP datagrams of one byte pass between the ends",
			Advice: "look for a firewall that lets the control port through and not the data ports (agent --data-ports names them), and at the routes of both ends",
		}}, nil
	}
	limit, next, err := bisect(r.sizes(largest), passes)
	if err != nil {
		return nil, err
	}
	if next == 0 {
		return nil, nil // all sizes pass now: something else was the matter
	}
	return []result.Warning{{
		Code: CodeMTU,
		Text: fmt.Sprintf("UDP datagrams of %d bytes pass and of %d bytes do not: packets of more than %d bytes are lost on the path, or fragments are",
			limit, next, limit+r.headers()),
		Advice: fmt.Sprintf("set the MTU of both ends to what the path carries, let ICMP \"too big\" messages through, or keep to sizes up to %d", limit),
	}}, nil
}

// shape is udp_rr in the direction or directions of the test's messages.
func shape(test spec.Test, size int) spec.Params {
	p := spec.Params{Request: size, Response: 1}
	if test.Kind().Pattern != spec.Stream {
		p.Request, p.Response = min(size, test.RequestSize()), min(size, test.ResponseSize())
	}
	return p
}

// largestDatagram is the size that has to pass. A TCP segment is as large as
// the ends' devices allow, whatever the message; one of jumbo frames is the
// largest that is looked for.
func largestDatagram(test spec.Test) int {
	size := max(test.RequestSize(), test.ResponseSize())
	if test.Kind().Protocol == spec.TCP {
		return min(size, usual[len(usual)-1])
	}
	return size
}

// headers is the bytes that IP and UDP put before a datagram.
func (r *runner) headers() int {
	if r.path.RemoteAddr.Unmap().Is6() {
		return spec.IPOverhead + 20
	}
	return spec.IPOverhead
}

// sizes are the ones to try first, in rising order up to the largest.
func (r *runner) sizes(largest int) []int {
	var all []int
	for _, mtu := range usual {
		for _, size := range []int{mtu - r.headers(), mtu - r.headers() + 1} {
			if size < largest {
				all = append(all, size)
			}
		}
	}
	return append(all, largest)
}

// bisect finds neighbours of which the smaller passes and the larger does not,
// among the sizes first and then between two of them. 1 passes. next is 0 if
// all do.
func bisect(sizes []int, passes func(int) (bool, error)) (limit, next int, err error) {
	lo, hi := -1, len(sizes)
	for hi-lo > 1 {
		middle := (lo + hi) / 2
		ok, err := passes(sizes[middle])
		switch {
		case err != nil:
			return 0, 0, err
		case ok:
			lo = middle
		default:
			hi = middle
		}
	}
	if hi == len(sizes) {
		return sizes[lo], 0, nil
	}
	limit, next = 1, sizes[hi]
	if lo >= 0 {
		limit = sizes[lo]
	}
	for next-limit > 1 {
		middle := (limit + next) / 2
		ok, err := passes(middle)
		switch {
		case err != nil:
			return 0, 0, err
		case ok:
			limit = middle
		default:
			next = middle
		}
	}
	return limit, next, nil
}

// passes says whether datagrams of these sizes make a round trip.
func (r *runner) passes(ctx context.Context, p spec.Params) (bool, error) {
	test, err := spec.NewTest("udp_rr", p)
	if err != nil {
		return false, err
	}
	if _, err := r.ready(ctx, traffic.Config{Test: test, Window: probeWindow}, true); err != nil {
		return false, err
	}
	if _, err := r.remote.Run(ctx); err != nil {
		return false, err
	}
	end, err := r.local.Run(ctx)
	if err != nil {
		return false, err
	}
	if _, err := r.remote.Drain(ctx); err != nil {
		return false, err
	}
	return end.Messages > 0, nil
}
