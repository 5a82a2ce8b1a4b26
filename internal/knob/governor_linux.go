package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// governor is what chooses the CPUs' frequency, of all of them
// (Documentation/admin-guide/pm/cpufreq.rst).
type governor struct{ place Place }

const cpuRoot = "/sys/devices/system/cpu"

var cpuName = regexp.MustCompile(`^cpu[0-9]+$`)

func openGovernor(p Place, _ spec.Setting, _ string) (Control, error) {
	c := governor{Place{root: p.root}}
	cpus, err := c.each()
	if err != nil {
		return nil, err
	}
	if len(cpus) == 0 {
		return nil, unavailable("frequency governor", "find one below "+cpuRoot, "a cpufreq driver",
			"in a virtual machine the host has it", nil)
	}
	return c, nil
}

func (c governor) ID() string { return hostPrefix + "governor" }

// cpuGovernor is one CPU's choice.
type cpuGovernor struct{ cpu, name string }

// each reads the governors of the CPUs that have one; those that are offline do
// not.
func (c governor) each() ([]cpuGovernor, error) {
	dirs, err := os.ReadDir(c.place.root + cpuRoot)
	if err != nil {
		return nil, plainly("list", cpuRoot, err)
	}
	var all []cpuGovernor
	for _, dir := range dirs {
		cpu := dir.Name()
		if !cpuName.MatchString(cpu) {
			continue
		}
		name, err := c.place.readFile(governorFile(cpu))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, cpuGovernor{cpu, name})
	}
	return all, nil
}

func governorFile(cpu string) string { return cpuRoot + "/" + cpu + "/cpufreq/scaling_governor" }

// Read returns the one governor of all CPUs, or "cpu0=NAME cpu1=NAME ...".
func (c governor) Read(context.Context) (string, error) {
	all, err := c.each()
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", fmt.Errorf("no CPU has a frequency governor any more")
	}
	if !slices.ContainsFunc(all, func(g cpuGovernor) bool { return g.name != all[0].name }) {
		return all[0].name, nil
	}
	words := make([]string, len(all))
	for i, g := range all {
		words[i] = g.cpu + "=" + g.name
	}
	return strings.Join(words, " "), nil
}

func (c governor) Write(_ context.Context, value string) error {
	all, err := c.each()
	if err != nil {
		return err
	}
	chosen := map[string]string{}
	for _, word := range strings.Fields(value) {
		cpu, name, one := strings.Cut(word, "=")
		if one {
			chosen[cpu] = name
			continue
		}
		for _, g := range all {
			chosen[g.cpu] = word
		}
	}
	for _, g := range all {
		want := chosen[g.cpu]
		if want == "" || want == g.name {
			continue
		}
		if err := c.known(g.cpu, want); err != nil {
			return err
		}
		if err := c.place.writeFile(governorFile(g.cpu), want); err != nil {
			return err
		}
	}
	return nil
}

// known says which governors there are, where the driver lists them.
func (c governor) known(cpu, name string) error {
	have, err := c.place.readFile(cpuRoot + "/" + cpu + "/cpufreq/scaling_available_governors")
	if err != nil || slices.Contains(strings.Fields(have), name) {
		return nil
	}
	return unavailable("frequency governor "+name, "find it among those of "+cpu+" ("+normal(have)+")",
		"a driver or module that has it", "", nil)
}

func (c governor) Restore(ctx context.Context, was string) error { return c.Write(ctx, was) }

func (c governor) Equal(read, asked string) bool { return read == asked }
