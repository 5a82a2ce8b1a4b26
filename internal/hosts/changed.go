package hosts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/result"
)

// mostChanged is how many facts of an end a warning names.
const mostChanged = 6

// ChangedSince asks both hosts for their facts again, and warns of what is other
// than when the run began. A host that has gone since is no fault of the run's.
func (p *Pair) ChangedSince(ctx context.Context, began []result.Environment) []result.Warning {
	now, err := p.Environments(ctx)
	if err != nil {
		return nil
	}
	return Changed(began, now)
}

// Changed warns of the ends whose facts are others than they were when the run
// began: trials before and after are then of different hosts, and which of them
// are of which is not known.
func Changed(began, now []result.Environment) []result.Warning {
	var all []result.Warning
	for _, b := range began {
		i := slices.IndexFunc(now, func(e result.Environment) bool { return e.End == b.End })
		if i < 0 {
			continue
		}
		changes := changes(b.Facts, now[i].Facts)
		if len(changes) == 0 {
			continue
		}
		if more := len(changes) - mostChanged; more > 0 {
			changes = append(changes[:mostChanged], fmt.Sprintf("and %d more", more))
		}
		all = append(all, result.Warning{
			Code:   "environment-changed",
			Text:   fmt.Sprintf("while the run was under way, this changed at the %s end: %s", b.End, strings.Join(changes, "; ")),
			Advice: "leave both hosts alone while a run is under way, and measure again",
		})
	}
	return all
}

// changes names each fact that differs, with both values, in the order in which
// the host told them.
func changes(was, is []result.Fact) []string {
	const none = "nothing"
	value := func(facts []result.Fact, name string) string {
		for _, f := range facts {
			if f.Name == name {
				return f.Value
			}
		}
		return none
	}
	var all []string
	for _, f := range was {
		if now := value(is, f.Name); now != f.Value {
			all = append(all, fmt.Sprintf("%s from %s to %s", f.Name, f.Value, now))
		}
	}
	for _, f := range is {
		if value(was, f.Name) == none {
			all = append(all, fmt.Sprintf("%s from %s to %s", f.Name, none, f.Value))
		}
	}
	return all
}
