package traffic

import (
	"fmt"
	"slices"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Place chooses the CPUs of tests that say how their threads are to lie (at), of
// those that the end is bound to and, where these are not enough, of the others
// that this process may use; of other tests it changes nothing. The calling thread
// must not be bound yet. The error is feature.ErrUnavailable where there are not as
// many CPUs.
func Place(cfg *Config) error {
	at := cfg.Test.Params.At
	if at == "" || cfg.Test.Kind().Pattern != spec.Wake {
		return nil
	}
	usable, err := sys.OnlineCPUs()
	if err != nil {
		return fmt.Errorf("choose CPUs for %s: %w", cfg.Test, err)
	}
	cpus, ok := choose(at, append([]int{cfg.CPU}, cfg.CPUs...), usable)
	if !ok {
		return &feature.Error{Feature: "two CPUs for " + cfg.Test.String(), Tried: "give each of its two threads one of its own",
			Need: "two CPUs that this process may use: it may use " + list(usable), Kernel: feature.Kernel().String()}
	}
	cfg.CPU, cfg.CPUs = cpus[0], cpus[1:]
	return nil
}

// choose is the one CPU of both threads, or one for each: of own first, in which
// sys.NoCPU stands for none. It is false if there are too few.
func choose(at string, own, usable []int) ([]int, bool) {
	var cpus []int
	for _, cpu := range slices.Concat(own, usable) {
		if cpu >= 0 && !slices.Contains(cpus, cpu) {
			cpus = append(cpus, cpu)
		}
	}
	n := 1
	if at == spec.WakeOther {
		n = 2
	}
	if len(cpus) < n {
		return nil, false
	}
	return cpus[:n], true
}

// list writes numbers as "0, 1 and none".
func list(cpus []int) string {
	if len(cpus) == 0 {
		return "none"
	}
	text := ""
	for i, cpu := range cpus {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(cpu)
	}
	return "CPU " + text
}
