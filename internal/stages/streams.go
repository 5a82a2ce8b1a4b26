package stages

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// Stream is where data waits on the way of one test's stream, and what limits it, under
// each variant.
type Stream struct {
	Test     string          `json:"test"`
	Params   spec.Params     `json:"params"`
	Under    string          `json:"under,omitempty"`
	From     string          `json:"from"` // the end that sends
	Variants []StreamVariant `json:"variants"`
	// Said are sentences about the changes from the first variant to each other one.
	Said []string `json:"said,omitempty"`
}

// TestOf is the test.
func (s *Stream) TestOf() spec.Test { return spec.Test{Name: s.Test, Params: s.Params} }

// StreamVariant is a stream under one variant: medians over its trials.
type StreamVariant struct {
	Name    string `json:"variant"`
	Trials  int    `json:"trials"`
	Samples int64  `json:"samples"` // how often each end's queues were looked at in all, at least
	// Places are in the order of the way.
	Places []Place `json:"places"`
	// Largest is the place with most, but that which waits to be sent: a program that
	// sends all it can keeps that full. That one is named where nothing else holds a
	// packet; empty where nothing does, or is known.
	Largest string `json:"largest,omitempty"`
	// Limits are what kept the sender from sending, of the time that it had data: TCP's.
	Limits         []Limit       `json:"limits,omitempty"`
	BytesPerPacket *float64      `json:"bytes_per_packet"`
	FramesPerRun   *float64      `json:"frames_per_run"`
	Missing        []result.Fact `json:"missing,omitempty"`
}

// Place is what waits at one: the median of the trials' means, and the largest of all;
// null where it is not known.
type Place struct {
	Name  string   `json:"place"`
	Bytes *float64 `json:"bytes"`
	Most  *float64 `json:"bytes_max"`
}

// Limit is a share of the time in which the sender had data.
type Limit struct {
	By    string   `json:"by"`
	Share *float64 `json:"share"`
}

// Names of places, in the order of the way.
const (
	PlaceSend     = "send buffer"
	PlaceQdisc    = "qdisc"
	PlaceWay      = "way" // sent and not there: rings, the wire, the receive handler
	PlaceSoftnet  = "softnet backlog"
	PlaceReceived = "receive buffer"
)

// Names of limits.
const (
	LimitWindow = "receive window"
	LimitSend   = "send buffer"
	LimitNone   = "none"
)

var (
	placeNames = []string{PlaceSend, PlaceQdisc, PlaceWay, PlaceSoftnet, PlaceReceived}
	limitNames = []string{LimitWindow, LimitSend, LimitNone}
)

// FramesPerRun is what is missing where nobody counted runs of the receive handler.
const FramesPerRun = "frames per run of the receive handler"

// flow is what one trial tells of one direction. What is not known is NaN.
type flow struct {
	block                   int
	samples                 int64
	places, most            []float64 // by placeNames
	limits                  []float64 // by limitNames; nil for datagrams
	bytesPerPacket, perPoll float64
	missing                 []result.Fact
}

// Streams tells of each test of streams whose queues were looked at, in the order of the
// trials; of both directions where both ends send. paired says that trials of one block
// belong together.
func Streams(all []Of, paired bool) []Stream {
	type group struct {
		Stream
		test  spec.Test
		names []string
		flows [][]*flow
	}
	var groups []*group
	for _, o := range all {
		k := o.Trial.Test.Kind()
		if !k.IsStream() {
			continue
		}
		for _, from := range []string{result.Local, result.Remote} {
			if from == result.Local && !k.Sends() || from == result.Remote && !k.Receives() {
				continue
			}
			f := flowOf(o.Trial, from)
			if f == nil {
				continue
			}
			i := slices.IndexFunc(groups, func(g *group) bool { return g.test == o.Trial.Test && g.Under == o.Under && g.From == from })
			if i < 0 {
				i = len(groups)
				groups = append(groups, &group{test: o.Trial.Test, Stream: Stream{Test: o.Trial.Test.Name, Params: o.Trial.Test.Params, Under: o.Under, From: from}})
			}
			g := groups[i]
			for len(g.names) <= o.At {
				g.names, g.flows = append(g.names, ""), append(g.flows, nil)
			}
			g.names[o.At], g.flows[o.At] = o.Variant, append(g.flows[o.At], f)
		}
	}
	var streams []Stream
	for _, g := range groups {
		at := make([]int, len(g.names)) // among Variants
		for i, flows := range g.flows {
			if len(flows) > 0 {
				at[i] = len(g.Variants)
				g.Variants = append(g.Variants, streamVariant(g.names[i], flows))
			}
		}
		for i := 1; i < len(g.flows); i++ {
			if len(g.flows[0]) > 0 && len(g.flows[i]) > 0 {
				g.Said = append(g.Said, g.sentence(&g.Variants[0], &g.Variants[at[i]], g.flows[0], g.flows[i], paired))
			}
		}
		streams = append(streams, g.Stream)
	}
	return streams
}

// flowOf reads a trial's stream from one end; nil if nobody was to look at its queues.
func flowOf(t *result.Trial, from string) *flow {
	if t.Remote == nil {
		return nil
	}
	sender, receiver, to := t.Local.Counters, t.Remote.Counters, result.Remote
	if from == result.Remote {
		sender, receiver, to = receiver, sender, result.Local
	}
	f := &flow{block: t.Block, places: make([]float64, len(placeNames)), most: make([]float64, len(placeNames)), bytesPerPacket: math.NaN(), perPoll: math.NaN()}
	asked := false
	for _, e := range []struct {
		end      string
		counters *result.Counters
	}{{from, sender}, {to, receiver}} {
		is, why := e.counters.Asked(result.SourceQueues)
		asked = asked || is
		if why != "" {
			f.missing = append(f.missing, result.Fact{Name: "queues of the " + e.end + " end", Value: why})
		}
		if r := e.counters.Reading(result.SourceQueues); r != nil {
			if n := r.Levels[result.QueueSamples]; f.samples == 0 || n < f.samples {
				f.samples = n
			}
		}
	}
	if !asked {
		return nil
	}
	for _, m := range t.Metrics() {
		if m.Name == result.BytesPerPacket && m.End == to {
			f.bytesPerPacket = m.Value
		}
	}
	here, there := sender.Reading(result.SourceQueues), receiver.Reading(result.SourceQueues)
	place := func(name string, mean, most float64) {
		i := slices.Index(placeNames, name)
		f.places[i], f.most[i] = mean, most
	}
	queue := func(r *result.Reading, name string) (mean, most float64) {
		return level64(r, name+result.QueueMean), level64(r, name+result.QueueMax)
	}
	packets, most := level64(there, result.QueueSoftnet+result.QueueMilli)/1000, level64(there, result.QueueSoftnet+result.QueueMax)
	inBytes := func(packets float64) float64 {
		if packets == 0 {
			return 0 // whatever the size of none
		}
		return packets * f.bytesPerPacket
	}
	backlog := inBytes(packets)
	place(PlaceSoftnet, backlog, inBytes(most))
	qdisc, most := queue(here, result.QueueQdisc)
	place(PlaceQdisc, qdisc, most)
	// What was sent and is not there is in the qdisc and in the receiver's backlog, too.
	sent, most := queue(here, result.QueueSent)
	place(PlaceWay, max(0, sent-orZero(qdisc)-orZero(backlog)), most)
	unsent, most := queue(here, result.QueueUnsent)
	place(PlaceSend, unsent, most)
	received, most := queue(there, result.QueueReceived)
	place(PlaceReceived, received, most)

	if r := sender.Reading(result.SourceTCPInfo); r != nil && r.Counts["busy_ns"] > 0 {
		busy := float64(r.Counts["busy_ns"])
		window, buffer := float64(r.Counts["rwnd_limited_ns"])/busy, float64(r.Counts["sndbuf_limited_ns"])/busy
		f.limits = []float64{min(1, window), min(1, buffer), max(0, 1-window-buffer)}
	}
	if r := receiver.Reading(result.SourceBPF); r != nil && r.Counts["napi_polls"] > 0 {
		f.perPoll = float64(r.Counts["napi_work"]) / float64(r.Counts["napi_polls"])
	} else {
		why := "its polls were not counted (--counters default,bpf does)"
		if _, reason := receiver.Asked(result.SourceBPF); reason != "" {
			why = reason
		} else if r != nil {
			why = "no handler was polled"
		}
		f.missing = append(f.missing, result.Fact{Name: FramesPerRun, Value: why})
	}
	return f
}

// level64 is a level; NaN where there is none.
func level64(r *result.Reading, name string) float64 {
	if r != nil {
		if v, told := r.Levels[name]; told {
			return float64(v)
		}
	}
	return math.NaN()
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// share is what of all that waits beyond the sender's buffer waits at a place.
func (f *flow) share(place string) float64 {
	sum := 0.0
	for i, v := range f.places {
		if placeNames[i] != PlaceSend {
			sum += orZero(v)
		}
	}
	if sum == 0 {
		return 0
	}
	return f.places[slices.Index(placeNames, place)] / sum
}

// aPacket is the least that is told of as a queue, in bytes: a full packet.
const aPacket = 1500

func streamVariant(name string, flows []*flow) StreamVariant {
	v := StreamVariant{Name: name, Trials: len(flows)}
	median := func(of func(*flow) float64) *float64 {
		m := stats.Median(values(flows, of))
		if math.IsNaN(m) {
			return nil
		}
		return &m
	}
	v.Missing = missingOf(flows)
	for _, f := range flows {
		v.Samples += f.samples
	}
	held := 0.0
	for i, name := range placeNames {
		p := Place{Name: name, Bytes: median(func(f *flow) float64 { return f.places[i] })}
		if most := values(flows, func(f *flow) float64 { return f.most[i] }); len(most) > 0 {
			m := slices.Max(most)
			p.Most = &m
		}
		if p.Bytes != nil && *p.Bytes >= aPacket && (*p.Bytes > held || v.Largest == PlaceSend) {
			v.Largest, held = name, *p.Bytes
		}
		v.Places = append(v.Places, p)
	}
	for i, by := range limitNames {
		if share := median(func(f *flow) float64 { return f.limit(i) }); share != nil {
			v.Limits = append(v.Limits, Limit{by, share})
		}
	}
	v.BytesPerPacket = median(func(f *flow) float64 { return f.bytesPerPacket })
	v.FramesPerRun = median(func(f *flow) float64 { return f.perPoll })
	return v
}

// missingOf is what trials lack, each with the first's reason: others' have other numbers
// in them. Where some have it, its name says how many do not.
func missingOf(flows []*flow) []result.Fact {
	var all []result.Fact
	of := map[string]int{}
	for _, f := range flows {
		for _, m := range f.missing {
			if of[m.Name]++; of[m.Name] == 1 {
				all = append(all, m)
			}
		}
	}
	for i := range all {
		if n := of[all[i].Name]; n < len(flows) {
			all[i].Name += fmt.Sprintf(" in %d of %s", n, unit.Count(len(flows), "trial"))
		}
	}
	return all
}

func (f *flow) limit(i int) float64 {
	if f.limits == nil {
		return math.NaN()
	}
	return f.limits[i]
}

// values are a figure of all flows that have it.
func values(flows []*flow, of func(*flow) float64) []float64 {
	var all []float64
	for _, f := range flows {
		if v := of(f); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	return all
}

// differs is how far a figure of b lies above that of a.
func differs(a, b []*flow, of func(*flow) float64, paired bool) Shift {
	if !paired {
		return shift(stats.Shift(values(a, of), values(b, of), level))
	}
	var d []float64
	for _, x := range a {
		for _, y := range b {
			if v := of(y) - of(x); x.block == y.block && !math.IsNaN(v) {
				d = append(d, v)
			}
		}
	}
	return shift(stats.SignedRank(d, level))
}

// mainLimit is the largest of a variant's limits that have a name.
func (v *StreamVariant) mainLimit() *Limit {
	i := slices.IndexFunc(v.Limits, func(l Limit) bool { return l.By == LimitNone })
	if i <= 0 {
		return nil
	}
	l := slices.MaxFunc(v.Limits[:i], func(a, b Limit) int { return cmp.Compare(*a.Share, *b.Share) })
	return &l
}
