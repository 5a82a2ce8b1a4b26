package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
)

// Loss says where the datagrams of a test went missing under one variant: of a
// stream, or of requests and answers. All are medians over its trials, so they
// need not add up.
type Loss struct {
	Test    string      `json:"test"`
	Params  spec.Params `json:"params"`
	Under   string      `json:"under,omitempty"`
	Variant string      `json:"variant"`
	// Lost is the share of all datagrams sent that never came, or of requests of
	// which no answer did: of whole trials, as the path's counters are, where the
	// ends counted those. The metric is of the window, and so differs.
	Lost float64 `json:"lost"`
	// Places are where a counter saw some go, in the order of the way.
	Places []Place `json:"places"`
	// Unnamed is the share of those sent that no counter saw go; null where
	// that can't be told: no sender's count, datagrams in several frames, or
	// counters that may have counted many as one.
	Unnamed *float64 `json:"unnamed"`
	// Frames says that a datagram took several frames, of which one lost is a
	// datagram lost: the shares of the path are then of frames. What the two
	// hosts counted are then packets, for each datagram that was sent.
	Frames bool `json:"frames,omitempty"`
}

// Place is a counter on the way, and the share of what was sent that it saw go,
// warm-up included.
type Place struct {
	End   string  `json:"end"` // as in Count
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// places are the counters of what goes missing between two programs, in the
// order of the way. A host of a lab is a at the local end and b at the remote
// one; where the path is not a lab's, what its hosts counted is named by source.
// A name that ends with an underscore or a point stands for all that begin so.
var places = []counter{
	{PathEnd, "a.tx_dropped"}, {PathEnd, "a.tx_errors"},
	{PathEnd, "wire.a_to_b.drop_"},
	{PathEnd, "b.rx_dropped"}, {PathEnd, "b.rx_errors"},
	{result.Local, "snmp."}, {result.Local, "qdisc."}, {result.Local, "device."},
	{result.Remote, "device."}, {result.Remote, "softnet."}, {result.Remote, "snmp."},
	{result.Remote, socketDrops},
}

// placesBack follow on the way of answers. What hosts counted is with those of
// the way forth.
var placesBack = []counter{
	{PathEnd, "b.tx_dropped"}, {PathEnd, "wire.b_to_a.drop_"}, {PathEnd, "a.rx_dropped"},
	{result.Local, socketDrops},
}

// socketDrops stands for what did not fit into the receiver's socket.
const socketDrops = "socket_drops"

// leastLoss is the share below which a loss is not looked into, and leastPlace
// that below which a place is left out.
const leastLoss, leastPlace = 0.001, 0.0005

// loss says where the bundle's datagrams went, and false if none are missing.
func (b *bundle) loss() (Loss, bool) {
	lostOf, wayOf := (*cell).lost, (*cell).way
	switch k := b.test.Kind(); {
	case k.Protocol == spec.UDP && k.Pattern == spec.RoundTrip:
		lostOf, wayOf = (*cell).unanswered, (*cell).wayAndBack
	case k.Protocol != spec.UDP || k.Pattern != spec.Stream:
		return Loss{}, false
	}
	var lost, unnamed []float64
	shares := map[counter][]float64{}
	n, several := 0, false
	for _, x := range b.trials {
		if v := lostOf(x); !math.IsNaN(v) {
			lost = append(lost, v)
		}
		way, rest, fragmented := wayOf(x)
		if way == nil {
			continue
		}
		n++
		several = several || fragmented
		unnamed = append(unnamed, rest)
		for c, share := range way {
			shares[c] = append(shares[c], share)
		}
	}
	l := Loss{Test: b.test.Name, Params: b.test.Params, Under: b.under, Variant: b.variant, Frames: several, Places: []Place{}}
	if len(lost) == 0 {
		return l, false
	}
	if l.Lost = stats.Median(lost); l.Lost < leastLoss {
		return l, false
	}
	if n > 0 && !several {
		l.Unnamed = number(max(0, stats.Median(unnamed)))
	}
	for c, s := range shares {
		// A counter that a trial does not have stood at zero.
		share := stats.Median(append(s, make([]float64, n-len(s))...))
		if share >= leastPlace {
			l.Places = append(l.Places, Place{c.end, c.name, share})
		}
	}
	slices.SortFunc(l.Places, func(x, y Place) int {
		all := slices.Concat(places, placesBack)
		return cmp.Or(cmp.Compare(placeOf(all, x.End, x.Name), placeOf(all, y.End, y.Name)), cmp.Compare(x.Name, y.Name))
	})
	return l, true
}

// placeOf is a counter's place among those on a way, -1 for none.
func placeOf(places []counter, end, name string) int {
	return slices.IndexFunc(places, func(p counter) bool {
		family := strings.HasSuffix(p.name, "_") || strings.HasSuffix(p.name, ".")
		return p.end == end && (p.name == name || family && strings.HasPrefix(name, p.name))
	})
}

func byName(a, b counter) int {
	return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
}

// lost is the share of a trial's datagrams that never came, NaN if not known.
func (c *cell) lost() float64 {
	sent, got := c.counters[counter{result.Local, "sent_all"}], c.counters[counter{result.Remote, "received_all"}]
	if _, counted := c.counters[counter{result.Remote, "received_all"}]; sent > 0 && counted {
		return max(0, 1-got/sent) // copies count as received
	}
	return c.figure(result.Taken{Name: result.Loss, End: result.Remote})
}

// way is what each counter on a trial's way saw go, as a share of what was
// sent; nil where the sender did not count that. What counts whole trials is
// preferred: frames do not say whether they are of the window.
func (c *cell) way() (shares map[counter]float64, unnamed float64, fragmented bool) {
	sent, whole := c.counters[counter{result.Local, "sent_all"}]
	if !whole {
		sent = c.counters[counter{result.Local, "sent"}]
	}
	if sent <= 0 {
		return nil, 0, false
	}
	frames := c.counters[counter{PathEnd, "a.tx_packets"}] + c.counters[counter{PathEnd, "a.tx_dropped"}]
	if fragmented = frames > 1.5*sent; !fragmented {
		frames = sent
	}
	shares = map[counter]float64{}
	unnamed = c.lost()
	for _, k := range slices.SortedFunc(maps.Keys(c.counters), byName) { // sums depend on the order
		n, of := c.counters[k], frames
		switch {
		case k.end == result.Remote && k.name == socketDrops+"_all":
			of = sent
			k.name = socketDrops
		case k.end == result.Remote && k.name == socketDrops:
			if _, better := c.counters[counter{result.Remote, socketDrops + "_all"}]; better {
				continue
			}
			of = sent
		}
		if placeOf(places, k.end, k.name) < 0 || n <= 0 {
			continue
		}
		shares[k] = n / of
		unnamed -= n / of
	}
	if whole {
		for _, k := range slices.SortedFunc(maps.Keys(c.drops), byName) {
			shares[k] = c.drops[k] / sent
			unnamed -= shares[k]
		}
	}
	return shares, unnamed, fragmented || c.several
}

// unanswered is the share of a trial's requests of which no answer came, NaN if
// that, or where they went, is not known.
func (c *cell) unanswered() float64 {
	sent, got := c.counters[counter{result.Local, "sent_all"}], c.counters[counter{result.Local, "received_all"}]
	if c.drops == nil || sent <= 0 {
		return math.NaN()
	}
	return max(0, 1-got/sent) // copies count as received
}

// wayAndBack is what each counter on the way of a trial's requests and answers
// saw go, as a share of the requests; nil where the ends did not count that.
func (c *cell) wayAndBack() (shares map[counter]float64, unnamed float64, several bool) {
	unnamed = c.unanswered()
	if math.IsNaN(unnamed) {
		return nil, 0, false
	}
	shares = map[counter]float64{}
	for _, k := range slices.SortedFunc(maps.Keys(c.drops), byName) {
		shares[k] = c.drops[k] / c.counters[counter{result.Local, "sent_all"}]
		unnamed -= shares[k]
	}
	return shares, unnamed, c.several
}
