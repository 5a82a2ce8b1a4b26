package stages

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// Sentence says of a change where it is: the whole first, then the stages that it is in.
func (t *Table) Sentence(c *Change) string {
	what := t.TestOf().String()
	if t.Under != "" {
		what += " (" + t.Under + ")"
	}
	from := fmt.Sprintf("%s, %s to %s: ", what, c.Baseline, c.Variant)
	if c.Total.Est == nil {
		return from + "no block has both."
	}
	whole := fmt.Sprintf("the typical round trip %s (%+.1f%%)", signed(*c.Total.Est), c.Pct)
	if c.Total.Lo != nil && !c.Total.Sure() {
		text := fmt.Sprintf("%sthe typical round trip is not different for sure (%s to %s)", from, signed(*c.Total.Lo), signed(*c.Total.Hi))
		if moved := t.moved(c); moved != "" {
			text += "; single stages are: " + moved
		}
		return text + "."
	}
	if c.Total.Lo == nil {
		whole += fmt.Sprintf(", of %s too few to be sure", unit.Count(c.N, "block"))
	}
	return from + whole + ": " + t.main(c) + "."
}

// kindOfStage are all stages of one name: a change of the receive handler is in that of
// both hosts.
type kindOfStage struct {
	name, between string
	share         float64
	ends          map[string]float64 // share by end
}

// main names the stages that most of a change is in.
func (t *Table) main(c *Change) string {
	var kinds []*kindOfStage
	whole := 0.0
	for i := range t.Stages {
		s := &t.Stages[i]
		k := slices.IndexFunc(kinds, func(k *kindOfStage) bool { return k.name == s.Name })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, &kindOfStage{name: s.Name, between: s.Between, ends: map[string]float64{}})
		}
		kinds[k].share += c.MeansNS[i]
		kinds[k].ends[s.End] += c.MeansNS[i]
		whole += c.MeansNS[i]
	}
	if whole == 0 {
		return "in no stage"
	}
	slices.SortStableFunc(kinds, func(a, b *kindOfStage) int { return cmp.Compare(b.share/whole, a.share/whole) })
	share := func(k *kindOfStage) float64 { return 100 * k.share / whole }
	against := kinds[len(kinds)-1]
	// Where stages take and give more than the whole they are told as times, and not as
	// shares of what is left.
	asTimes := share(kinds[0]) > 130 || share(against) < -30
	told := func(k *kindOfStage) string {
		if asTimes {
			return signed(k.share) + " "
		}
		return fmt.Sprintf("%.0f%% ", share(k))
	}
	var parts []string
	left := 100.0
	for i, k := range kinds {
		enough := len(parts) > 0 && (share(k) < 10 || left < 15)
		if asTimes {
			enough = share(k) < max(10, share(kinds[0])/4)
		}
		if i > 0 && enough || len(parts) == 3 {
			break
		}
		parts = append(parts, told(k)+k.between+k.at())
		left -= share(k)
	}
	if share(against) < -10 {
		parts = append(parts, "against "+told(against)+against.between+against.at())
	}
	return strings.Join(parts, ", ")
}

// at says at which end it is, if it is at one.
func (k *kindOfStage) at() string {
	near, far := k.ends[result.Local], k.ends[result.Remote]
	switch {
	case near == 0 && far == 0:
		return ""
	case math.Abs(near) >= 0.85*math.Abs(near+far):
		return " at the local end"
	case math.Abs(far) >= 0.85*math.Abs(near+far):
		return " at the remote end"
	}
	return " at both ends"
}

// moved names single stages that have changed for sure, the most first; those of one
// name together.
func (t *Table) moved(c *Change) string {
	var kinds []*kindOfStage
	for i := range c.Parts {
		p := &c.Parts[i]
		if !p.Sure() {
			continue
		}
		s := &t.Stages[i]
		k := slices.IndexFunc(kinds, func(k *kindOfStage) bool { return k.name == s.Name })
		if k < 0 {
			k = len(kinds)
			kinds = append(kinds, &kindOfStage{name: s.Name, between: s.Between, ends: map[string]float64{}})
		}
		kinds[k].share += *p.Est
		kinds[k].ends[s.End] += *p.Est
	}
	kinds = slices.DeleteFunc(kinds, func(k *kindOfStage) bool { return math.Abs(k.share) < least })
	slices.SortStableFunc(kinds, func(a, b *kindOfStage) int { return cmp.Compare(math.Abs(b.share), math.Abs(a.share)) })
	var parts []string
	for _, k := range kinds[:min(2, len(kinds))] {
		parts = append(parts, signed(k.share)+" "+k.between+k.at())
	}
	return strings.Join(parts, ", ")
}

// least is the smallest change of a stage that is told of where the whole has none, in
// ns.
const least = 100

func signed(ns float64) string {
	sign := "+"
	if ns < 0 {
		sign = "-"
	}
	return sign + unit.Format(math.Abs(ns), unit.Nanoseconds)
}

// Where says of one variant where most of its time goes.
func (t *Table) Where(v *Variant) string {
	order := make([]int, len(t.Stages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.PartsNS[b], v.PartsNS[a]) })
	var parts []string
	for _, i := range order[:min(3, len(order))] {
		share := 100 * v.PartsNS[i] / v.TotalNS
		if len(parts) > 0 && share < 5 {
			break
		}
		where := ""
		if e := t.Stages[i].End; e != "" {
			where = " at the " + e + " end"
		}
		parts = append(parts, fmt.Sprintf("%.0f%% %s%s", share, t.Stages[i].Between, where))
	}
	name := t.TestOf().String()
	if v.Name != "" {
		name += ", " + v.Name
	}
	return fmt.Sprintf("%s: of a typical round trip's %s, %s.", name, unit.Format(v.TotalNS, unit.Nanoseconds), strings.Join(parts, ", "))
}

// Source says what a table's figures rest on, one sentence each.
func (t *Table) Source() []string {
	var by string
	switch t.By {
	case result.SeenByBPF:
		by = "eBPF programs at tracepoints of the kernel"
	case result.SeenByStamps:
		by = "timestamps of the sockets' messages (SO_TIMESTAMPING), without privileges: the stages between them are not told apart"
	case result.SeenByClock:
		by = "the clock around the calls alone"
	default:
		by = t.By
	}
	all := []string{fmt.Sprintf("Told by %s.", by)}
	var missing []result.Fact
	var watched, alone int
	var lost, every int64
	for i := range t.Variants {
		v := &t.Variants[i]
		missing = facts(missing, v.Missing, "")
		watched, alone, lost, every = watched+v.Watched, alone+v.Alone, lost+v.Lost, max(every, v.Every)
	}
	for _, f := range missing {
		all = append(all, fmt.Sprintf("Not by %s: %s.", f.Name, strings.TrimSuffix(f.Value, ".")))
	}
	text := fmt.Sprintf("Watched: %s, one in up to %d", unit.Count(watched, "round trip"), every)
	if alone > 0 {
		text += fmt.Sprintf("; %d more were seen by one end alone", alone)
	}
	if lost > 0 {
		text += fmt.Sprintf("; %s found no room", unit.Count(int(lost), "event"))
	}
	all = append(all, text+".")
	for i := range t.Variants {
		if ns := t.Variants[i].InterfacesNS; ns != nil {
			all = append(all, strings.TrimSuffix("Between the interfaces, by their own stamps: "+unit.Format(*ns, unit.Nanoseconds)+" both ways together, "+t.Variants[i].Name, ", ")+".")
		}
	}
	for i := range t.Variants {
		if c := t.Variants[i].Clock; c != nil {
			all = append(all, fmt.Sprintf("The hosts' clocks: the remote end's is %s off, known to +-%s from the quickest of %s. What is between the hosts is right in its sum; each way alone is only known to that.",
				unit.Format(math.Abs(float64(c.Offset)), unit.Nanoseconds), unit.Format(float64(c.Error), unit.Nanoseconds), unit.Count(c.Pairs, "round trip")))
			for _, f := range t.Variants[i].Clocks {
				all = append(all, fmt.Sprintf("The %s: %s.", f.Name, f.Value))
			}
			break
		}
	}
	return all
}
