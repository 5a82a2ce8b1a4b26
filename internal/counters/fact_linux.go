package counters

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// factGroups is the table of what is told beyond the table of facts, in its
// order. The boot is the last: it differs between any two boots, and by itself
// changes nothing.
var factGroups = []func(root string) []Fact{
	kernelFacts, cpuFacts, mitigationFacts, memoryFacts, clockFacts, groupFacts, processFacts, sysctlFacts, filterFacts, bootFacts,
}

// details are facts beyond the table's.
func details(root string) []Fact {
	var all []Fact
	for _, group := range factGroups {
		all = append(all, group(root)...)
	}
	return all
}

// live says that it is this machine that is looked at, and not files of a
// test's: only then is anything asked by system calls.
func live(root string) bool { return root == "/" }

// valued leaves out the facts that have no value.
func valued(all ...Fact) []Fact {
	return slices.DeleteFunc(all, func(f Fact) bool { return strings.TrimSpace(f.Value) == "" })
}

// chosen is the word in brackets of a line that has all choices, as in
// "always [madvise] never"; the whole line if none is.
func chosen(line string) string {
	if _, rest, ok := strings.Cut(line, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return line
}

// numbered are the files below root whose names end in a number, by it.
func numbered(root, pattern string) (names []string, numbers []int) {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		return nil, nil
	}
	byNumber := map[int]string{}
	for _, name := range found {
		digits := name[len(strings.TrimRight(name, "0123456789")):]
		if n, err := strconv.Atoi(digits); err == nil {
			byNumber[n] = name
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		names = append(names, byNumber[n])
	}
	return names, numbers
}

// runs writes ascending numbers as "0-3,8".
func runs(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); i++ {
		first := i
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		part := strconv.Itoa(numbers[first])
		if i > first {
			part += "-" + strconv.Itoa(numbers[i])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// grouped is the one value that all have, or each value with those that have
// it, as in "performance (0-3), powersave (4-7)".
func grouped(numbers []int, values []string) string {
	var order []string
	having := map[string][]int{}
	for i, v := range values {
		if v == "" {
			continue
		}
		if having[v] == nil {
			order = append(order, v)
		}
		having[v] = append(having[v], numbers[i])
	}
	if len(order) == 1 && len(having[order[0]]) == len(values) {
		return order[0]
	}
	for i, v := range order {
		order[i] = v + " (" + runs(having[v]) + ")"
	}
	return strings.Join(order, ", ")
}
