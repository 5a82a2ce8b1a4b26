package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// Answer says in words what the report bears, one sentence for each level but
// the baseline, by each test's headline metric: "kthread against softirq:
// tcp_rr p50 +57% (52 to 60), worse; udp_stream goodput same." Where another
// main metric of a test says otherwise than its headline, that is added. Where
// something held a test's throughput, what it cost leads instead. Of two factors
// it is told whether they act independently; where they surely do not, each
// one's effect is said to be a mean, and what it is at either level of the other.
func (r *Report) Answer() []string {
	if r.Posted {
		return r.postedAnswer()
	}
	var sentences []string
	for _, level := range r.Levels() {
		sentences = append(sentences, r.sentence(level))
	}
	for _, level := range r.Interactions() {
		sentences = append(sentences, r.together(level)...)
	}
	if r.spread() {
		sentences = append(sentences, "Runs of one side differ more than the trials within them: a verdict holds between these runs only.")
	}
	if len(sentences) == 0 {
		sentences = []string{"Nothing was compared."}
	}
	sentences[0] = r.Caveat() + sentences[0]
	return sentences
}

// Caveat is what comes before an answer that rests on less than was planned, with a
// blank behind it; empty where nothing is missing.
func (r *Report) Caveat() string {
	switch {
	case r.Partial && r.Separate():
		return "From runs that are not whole: "
	case r.Partial:
		return fmt.Sprintf("Partial, %d of %d blocks complete. ", r.Blocks, r.Planned)
	}
	return ""
}

// saying is one item of a sentence: rows of one test and metric that say the
// same.
type saying struct {
	test, metric string
	verdict      Verdict
	known        bool   // an estimate is there
	over         string // the factors that its effect depends on
	rows         []Comparison
	but          string
	unders       []string // the report's conditions, nil for none
}

// order in which a sentence tells: differences, then what is the same, then
// what is not known.
func (s *saying) order() int {
	switch {
	case !s.known:
		return 3
	case s.verdict == Unsure:
		return 2
	case s.verdict == Same:
		return 1
	}
	return 0
}

func (r *Report) sentence(l Level) string {
	items, leads := r.sayings(l.Rows), pinnedOf(l.Rows, r.unders())
	text := r.Named(l) + ": "
	if others := r.oneWith(l.Factor); others != "" {
		text = fmt.Sprintf("%s, together with %s, which can't be told from it: ", r.Named(l), others)
	}
	if len(items) == 0 && len(leads) == 0 {
		return text + "no figures."
	}
	most, judged := 0, false
	for _, p := range leads {
		for _, c := range slices.Concat(append(p.cost, p.rows)...) {
			most = max(most, c.N)
			judged = judged || c.Verdict != Unsure
		}
	}
	for _, s := range items {
		for _, c := range s.rows {
			most = max(most, c.N)
		}
		judged = judged || s.verdict != Unsure || s.but != ""
	}
	early := most < r.fewest() && !judged
	var parts []string
	for i := range leads {
		parts = append(parts, leads[i].text(!early))
	}
	for _, s := range items {
		parts = append(parts, s.text(!early)...)
	}
	switch {
	case early && most == 0 && r.Separate():
		return text + "no verdict, no figures on both sides."
	case early && most == 0:
		return text + "no verdict, no complete block."
	case early:
		text += fmt.Sprintf("no verdict from %s (%d are needed); so far ", r.evidence(most), r.fewest())
	}
	return text + strings.Join(parts, "; ") + "."
}

// spread says whether the answer's verdicts rest on trials that are no
// independent evidence.
func (r *Report) spread() bool {
	return slices.ContainsFunc(r.Comparisons, func(c Comparison) bool {
		return c.Rank() == result.Headline && c.Verdict != Unsure && c.Spread.Wide()
	})
}

// fewest is the evidence that better or worse needs: blocks, or trials or boots
// on each side.
func (r *Report) fewest() int {
	switch r.Pairing {
	case Unpaired:
		return FewestTrials(r.Families.Main)
	case ByBoot:
		return MinBoots
	}
	return r.Fewest()
}

func (r *Report) evidence(n int) string {
	switch r.Pairing {
	case Unpaired:
		return unit.Count(n, "trial") + " a side"
	case ByBoot:
		return unit.Count(n, "boot") + " a side"
	}
	return unit.Count(n, "block")
}

// sayings picks the headline rows and puts together what says the same.
func (r *Report) sayings(rows []Comparison) []saying {
	var all []saying
	unders := r.unders()
	for _, c := range rows {
		if c.Rank() != result.Headline || c.Held != nil {
			continue
		}
		s := saying{test: c.Test, metric: c.Metric, verdict: c.Verdict, known: c.DeltaPct != nil || c.Delta != nil, over: list(r.dependsOn(&c)), unders: unders}
		i := slices.IndexFunc(all, func(o saying) bool {
			return o.test == s.test && o.metric == s.metric && o.verdict == s.verdict && o.known == s.known && o.over == s.over
		})
		if i < 0 {
			i = len(all)
			all = append(all, s)
		}
		all[i].rows = append(all[i].rows, c)
		if all[i].but == "" {
			if all[i].but = contrary(c, rows); all[i].but != "" && len(unders) > 1 {
				all[i].but += " at " + c.Under
			}
		}
	}
	slices.SortStableFunc(all, func(a, b saying) int { return a.order() - b.order() })
	return all
}

// fewRows is how many rows of one saying are told one by one; more are told
// by their range.
const fewRows = 2

func (s *saying) text(withVerdict bool) []string {
	end := ""
	switch {
	case s.known && s.verdict == Same:
		end = " same"
	case s.known && withVerdict:
		end = ", " + string(s.verdict)
	}
	what := func(c *Comparison) string {
		switch {
		case s.verdict == Same:
			return ""
		}
		return " " + c.change()
	}
	var parts []string
	switch {
	case s.unders != nil && s.oneTest():
		parts = append(parts, s.within(end))
	case len(s.rows) <= fewRows:
		for i := range s.rows {
			c := &s.rows[i]
			parts = append(parts, c.Name()+" "+shortMetric(c.Metric)+what(c)+end)
		}
	default:
		text := fmt.Sprintf("%s %s %s", s.test, shortMetric(s.metric), s.where())
		switch {
		case !s.known:
			text += " " + s.rows[0].Change(1)
		case s.verdict != Same:
			text += " " + estimates(s.rows)
		}
		parts = append(parts, text+end)
	}
	if s.over != "" {
		parts[len(parts)-1] += " on the mean over " + s.over
	}
	if s.but != "" {
		parts[len(parts)-1] += ", but " + s.but
	}
	return parts
}

// where tells how many rows are told by their range.
func (s *saying) where() string {
	if s.unders != nil {
		return s.whereWithin()
	}
	if slices.ContainsFunc(s.rows, func(c Comparison) bool { return c.Under != "" }) {
		return fmt.Sprintf("in %d cases", len(s.rows))
	}
	first := s.rows[0].Of()
	for _, c := range s.rows {
		if other := c.Of(); !sameButSizes(first, other) {
			return fmt.Sprintf("in %d tests", len(s.rows))
		}
	}
	return fmt.Sprintf("at %d sizes", len(s.rows))
}

func sameButSizes(a, b spec.Test) bool {
	a.Params.Size, a.Params.Request, a.Params.Response = b.Params.Size, b.Params.Request, b.Params.Response
	return a == b
}

// estimates is the range of the rows' shifts, without their intervals.
func estimates(rows []Comparison) string {
	byShift := func(a, b Comparison) int {
		x, _, _ := a.Shift()
		y, _, _ := b.Shift()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	least, most := slices.MinFunc(rows, byShift), slices.MaxFunc(rows, byShift)
	for _, c := range []*Comparison{&least, &most} {
		c.LoPct, c.HiPct, c.Lo, c.Hi = nil, nil, nil, nil
	}
	return least.change() + " to " + most.change()
}

// contrary tells of the first main metric of the same test whose verdict is
// better or worse and not the headline's. What a sender offered is no outcome.
func contrary(headline Comparison, rows []Comparison) string {
	for _, c := range rows {
		if c.Of() != headline.Of() || c.Under != headline.Under || c.Rank() == result.Detail || c.Metric == result.Offered {
			continue
		}
		if (c.Verdict == Better || c.Verdict == Worse) && c.Verdict != headline.Verdict {
			return fmt.Sprintf("%s %s, %s", shortMetric(c.Metric), c.change(), c.Verdict)
		}
	}
	return ""
}

// change is Change with the unit's name where the number has one.
func (c *Comparison) change() string {
	if c.Scale == Percent || c.Unit == unit.Share {
		return c.Change(1)
	}
	est, lo, hi := c.Shift()
	div, label := unit.Scale(c.Unit, est, lo, hi)
	return c.Change(div) + " " + label
}

// shortMetric is how a metric is called beside its test's name: tcp_rr p50.
func shortMetric(name string) string { return strings.TrimPrefix(name, "rtt_") }
