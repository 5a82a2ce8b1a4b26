package counters

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// groupFacts are the limits that the process's control groups set to its time
// of CPUs: the lowest of all on the way up, in version 2 of cgroups(7) or 1. A
// process that does not see the groups' files, as where ip-netns(8) has mounted
// another sysfs over them, is told neither; otherwise the CPUs are there, be they
// all.
func groupFacts(root string) []Fact {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	limit, cpus := 0.0, ""
	lower := func(n float64) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	for l := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, at := range upwards(parts[2]) {
			switch controllers := strings.Split(parts[1], ","); {
			case parts[0] == "0" && parts[1] == "":
				lower(quota(line(root, path.Join("sys/fs/cgroup", at, "cpu.max"))))
				lower(quota(line(root, path.Join("sys/fs/cgroup/unified", at, "cpu.max"))))
				if cpus == "" {
					cpus = line(root, path.Join("sys/fs/cgroup", at, "cpuset.cpus.effective"))
				}
			case slices.Contains(controllers, "cpu"):
				dir := path.Join("sys/fs/cgroup/cpu", at)
				lower(quota(line(root, path.Join(dir, "cpu.cfs_quota_us")) + " " + line(root, path.Join(dir, "cpu.cfs_period_us"))))
			case slices.Contains(controllers, "cpuset"):
				if cpus == "" {
					cpus = line(root, path.Join("sys/fs/cgroup/cpuset", at, "cpuset.effective_cpus"))
				}
			}
		}
	}
	value := ""
	if limit > 0 {
		value = fmt.Sprintf("%.4g", limit)
	}
	return valued(Fact{Name: "control group cpu limit", Value: value}, Fact{Name: "control group cpus", Value: cpus})
}

// upwards is a group and all that it is in.
func upwards(group string) []string {
	group = path.Clean("/" + group)
	all := []string{group}
	for group != "/" {
		group = path.Dir(group)
		all = append(all, group)
	}
	return all
}

// quota reads "QUOTA PERIOD", in microseconds, as a number of CPUs; 0 if there
// is no limit.
func quota(text string) float64 {
	f := strings.Fields(text)
	if len(f) != 2 {
		return 0
	}
	q, err := strconv.ParseFloat(f[0], 64)
	p, err2 := strconv.ParseFloat(f[1], 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}
