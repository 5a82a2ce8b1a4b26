package doctor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/result"
)

// view is one end as rules see it.
type view struct {
	*Host
	in    *Input
	facts map[string]string
}

func newView(h *Host, in *Input) *view {
	v := &view{Host: h, in: in, facts: map[string]string{}}
	for _, f := range h.Facts {
		v.facts[f.Name] = f.Value
	}
	return v
}

// fact is the value of a fact; known is false if it is not told.
func (v *view) fact(name string) (value string, known bool) {
	value, known = v.facts[name]
	return value, known
}

// number is a fact that is one whole number.
func (v *view) number(name string) (int64, bool) {
	n, err := strconv.ParseInt(v.facts[name], 10, 64)
	return n, err == nil
}

// devices are the interfaces to examine: that of the path, or all.
func (v *view) devices() []string {
	if v.Device != "" {
		return []string{v.Device}
	}
	var all []string
	for _, f := range v.Facts {
		if name, ok := strings.CutPrefix(f.Name, "device "); ok && name != "" {
			all = append(all, name)
		}
	}
	return all
}

// eachDevice applies a check to every interface. It is known if it is of one.
func (v *view) eachDevice(check func(device string) (found []Finding, known bool)) (found []Finding, known bool) {
	for _, d := range v.devices() {
		f, k := check(d)
		for i := range f {
			f[i].Device = d
		}
		found, known = append(found, f...), known || k
	}
	return found, known
}

// about is a fact of an interface.
func (v *view) about(device, name string) (value string, known bool) {
	return v.fact(device + " " + name)
}

// rate is what a source counted in a second, of the names that start and end so.
func (v *view) rate(source, start, end string) (float64, bool) {
	r := v.Look.Reading(source)
	if r == nil || r.Elapsed <= 0 {
		return 0, false
	}
	sum := 0.0
	for name, n := range r.Counts {
		if strings.HasPrefix(name, start) && strings.HasSuffix(name, end) {
			sum += float64(n)
		}
	}
	return sum / r.Elapsed.Seconds(), true
}

// count is what a source counted under one name while it was looked at.
func (v *view) count(source, name string) (int64, bool) {
	r := v.Look.Reading(source)
	if r == nil {
		return 0, false
	}
	return r.Counts[name], true
}

// cpus are those that were looked at; none where it was not.
func (v *view) cpus() []int {
	if v.Look == nil {
		return nil
	}
	return v.Look.CPUs
}

// busy is the share of each CPU that was at work, in the order of cpus. It is
// exact where idle time was, and else in the steps of the kernel's ticks.
func (v *view) busy() ([]float64, bool) {
	var shares []float64
	for _, cpu := range v.cpus() {
		name := "cpu" + strconv.Itoa(cpu)
		if idle := v.Look.Reading(result.SourceIdle); idle != nil && idle.Elapsed > 0 {
			shares = append(shares, share(1-float64(idle.Counts[name+".idle"])/float64(idle.Elapsed)))
			continue
		}
		r := v.Look.Reading(result.SourceCPU)
		if r == nil || r.Elapsed <= 0 {
			return nil, false
		}
		var at int64
		for _, kind := range []string{"user", "nice", "system", "irq", "softirq", "steal"} {
			at += r.Counts[name+"."+kind]
		}
		shares = append(shares, share(float64(at)/float64(r.Elapsed)))
	}
	return shares, len(shares) > 0
}

func share(x float64) float64 { return min(max(x, 0), 1) }

// after is the number behind a word, as in "rx 256 of 4096".
func after(text, word string) (int64, bool) {
	f := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	for i := 0; i+1 < len(f); i++ {
		if f[i] == word {
			n, err := strconv.ParseInt(f[i+1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// pair is a setting and its highest value: "rx 256 of 4096".
func pair(text, word string) (is, most int64, ok bool) {
	for part := range strings.SplitSeq(text, ", ") {
		f := strings.Fields(part)
		if len(f) != 4 || f[0] != word || f[2] != "of" {
			continue
		}
		is, err := strconv.ParseInt(f[1], 10, 64)
		most, err2 := strconv.ParseInt(f[3], 10, 64)
		return is, most, err == nil && err2 == nil
	}
	return 0, 0, false
}

// hasWord says whether a word is among those of a text.
func hasWord(text, word string) bool { return slices.Contains(strings.Fields(text), word) }

var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]*$`)

// shell is a name as a shell reads it: it may be one of another host's, and
// anything.
func shell(name string) string {
	if plain.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// list joins words with commas.
func list(words []string) string { return strings.Join(words, ", ") }

// one is a check's answer that found something.
func one(f Finding) ([]Finding, bool) { return []Finding{f}, true }

// fine is a check's answer that found nothing wrong, unknown that of one that
// could not be made.
func fine() ([]Finding, bool)    { return nil, true }
func unknown() ([]Finding, bool) { return nil, false }
