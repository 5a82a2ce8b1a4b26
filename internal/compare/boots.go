package compare

import (
	"fmt"
	"math"
	"slices"

	"netdelta/internal/result"
	"netdelta/internal/stats"
	"netdelta/internal/unit"
)

// MinBoots is the fewest boots of a side that are compared as repetitions: two
// have a spread, but next to nothing is known of it.
const MinBoots = 3

// Separate says that the report is of separate runs, whatever of them is held
// against what.
func (r *Report) Separate() bool { return r.Pairing == Unpaired || r.Pairing == ByBoot }

// byBoot are the boots of both sides: for each side the places of each boot's
// runs among the side's.
type byBoot [2][][]int

// bootsOf groups the sides' runs by the boot that they stand for. Where all
// stand for one, and each side has MinBoots of them, boots are what is compared;
// otherwise it is nil, and the warning, if runs of either side stand for boots,
// says why.
func bootsOf(sides [2]*party) (by *byBoot, warning []result.Warning) {
	by = &byBoot{}
	perBoot, others, unknown := 0, []string(nil), []string(nil)
	for side, p := range sides {
		var names []string
		for i, k := range p.kept {
			switch name := result.BootOf(k.Environments); {
			case !k.PerBoot:
				others = append(others, k.ID)
			case name == "":
				perBoot++
				unknown = append(unknown, k.ID)
			default:
				perBoot++
				n := slices.Index(names, name)
				if n < 0 {
					n = len(names)
					names = append(names, name)
					by[side] = append(by[side], nil)
				}
				by[side][n] = append(by[side][n], i)
			}
		}
	}
	if perBoot == 0 {
		return nil, nil
	}
	warn := func(why, advice string) (*byBoot, []result.Warning) {
		return nil, []result.Warning{{Code: "too-few-boots",
			Text:   why + ": trials are compared instead, by which a difference between boots can't be told from the change's",
			Advice: advice}}
	}
	switch a, b := len(by[0]), len(by[1]); {
	case len(others) > 0:
		return warn(fmt.Sprintf("%s for no boot (%s) and the others do", stand(len(others)), clipped(others)),
			"measure all of them with netdelta run --boot")
	case len(unknown) > 0:
		return warn(fmt.Sprintf("the boot of %s is not known (%s)", unit.Count(len(unknown), "run"), clipped(unknown)),
			"measure on hosts that tell their boot, as Linux does")
	case a < MinBoots || b < MinBoots:
		var more string
		for side, p := range sides {
			if n := MinBoots - len(by[side]); n > 0 {
				if more != "" {
					more += " and "
				}
				more += fmt.Sprintf("%d more of %s", n, p.name)
			}
		}
		return warn(fmt.Sprintf("boots count as repetitions from %d a side on, and these are %s of %s and %d of %s",
			MinBoots, unit.Count(a, "boot"), sides[0].name, b, sides[1].name),
			"boot "+more+", and measure each boot (netdelta run --boot)")
	}
	return by, nil
}

func stand(runs int) string {
	if runs == 1 {
		return "one run stands"
	}
	return fmt.Sprintf("%d runs stand", runs)
}

// clipped lists the first few ids.
func clipped(ids []string) string {
	const most = 3
	if len(ids) > most {
		return fmt.Sprintf("%s and %d more", list(ids[:most]), len(ids)-most)
	}
	return list(ids)
}

// figures is each boot's figure in the metric's unit: the median of its trials
// on the link's scale. NaN where no trial of the boot has one.
func (by *byBoot) figures(m *match, side int, metric result.Taken, l link) []float64 {
	all := make([]float64, len(by[side]))
	for i, runs := range by[side] {
		var trials []*cell
		for _, run := range runs {
			trials = append(trials, m.cells[side][run]...)
		}
		all[i] = math.NaN()
		if f := linked(figuresOf(trials, metric), l); len(f) > 0 {
			all[i] = l.from(stats.Median(f))
		}
	}
	return all
}

// byBootsWarning stands in place of unpairedWarning where boots are compared.
func byBootsWarning(by *byBoot, a, b *party) result.Warning {
	return result.Warning{Code: "unpaired",
		Text: fmt.Sprintf("%s and %s are separate runs, of %d and %d boots: what differs from boot to boot is judged, and drift of the machines from the ones to the others is inside every change",
			a.name, b.name, len(by[0]), len(by[1])),
		Advice: "boot the two in turn, so that drift is shared out; compare within one boot (netdelta ab) what can be changed without booting"}
}
