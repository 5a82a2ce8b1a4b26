package summary

import (
	"netdelta/internal/result"
	"netdelta/internal/stages"
)

// watchedOf are a run's trials for what they tell of stages: each variant by itself.
func watchedOf(trials []result.Trial) []stages.Of {
	at := map[string]int{}
	var all []stages.Of
	for i := range trials {
		name := under(trials[i].Variant)
		if _, has := at[name]; !has {
			at[name] = len(at)
		}
		all = append(all, stages.Of{Variant: name, At: at[name], Trial: &trials[i]})
	}
	return all
}
