package traffic

import (
	"testing"

	"netdelta/internal/spec"
)

func TestNapLengths(t *testing.T) {
	const second = 1_000_000_000
	for _, c := range []struct {
		name             string
		most, came, took int64
		lengthIs         int64
	}{
		{"as long as there is room", 10, 100, 100 * 3000, 30_000},
		{"no longer than it saves something", 1000, 100, 100 * 3000, maxNap},
		{"too short to sleep", 3, 100, 100 * 3000, 0},
		{"no room at all", 0, 100, 100 * 3000, 0},
		{"nothing came", 10, 0, 1000, 0},
		{"too slow for a nap", 10, 5, second, 0},
		{"a copy of the clock", 10, 5, 0, 0},
	} {
		p := napper{most: c.most, at: second, messages: 1000}
		if got := p.length(second+c.took, 1000+c.came); got != c.lengthIs {
			t.Errorf("%s: %d ns, want %d", c.name, got, c.lengthIs)
		}
		if p.at != second+c.took || p.messages != 1000+c.came {
			t.Errorf("%s: begins anew at %d with %d", c.name, p.at, p.messages)
		}
	}
}

// TestWhoNaps has receivers nap only where it does good.
func TestWhoNaps(t *testing.T) {
	for _, c := range []struct {
		p    spec.Params
		naps bool
	}{
		{spec.Params{}, true}, {spec.Params{Recv: "trunc"}, true}, {spec.Params{Send: "sendmmsg", Recv: "recvmmsg"}, true},
		{spec.Params{Send: "gso"}, false}, {spec.Params{Recv: "gro"}, false}, {spec.Params{Rate: 1000}, false},
		{spec.Params{Flows: 2}, true}, {spec.Params{Flows: 2, Recv: "recvmmsg"}, true}, {spec.Params{Flows: 2, Recv: "gro"}, false},
	} {
		needMethods(t, c.p)
		if e, _ := udpTrial(c.p, loopbacks["ipv4"]).engine(t, "remote"); napsOf(e).method != nil {
			t.Errorf("%s naps unasked", udpName(c.p))
		}
		c.p.Wait = spec.Nap
		e, _ := udpTrial(c.p, loopbacks["ipv4"]).engine(t, "remote")
		naps := napsOf(e)
		if got := naps.method != nil; got != c.naps || got && naps.most < 1 {
			t.Errorf("%s: naps %v, %d datagrams at most", udpName(c.p), got, naps.most)
		}
	}
}

// napsOf is how a receiver naps.
func napsOf(e Engine) napper {
	switch e := e.(type) {
	case *udpReceiver:
		return e.naps
	case *udpFlowReceiver:
		return e.parts[0].naps
	}
	return napper{}
}
