package counters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdelta/internal/feature"
	"netdelta/internal/result"
	"netdelta/internal/sys"
)

// source is one place where the kernel tells what it does. It belongs to the
// sampler's thread.
type source interface {
	// take reads the source now, quickly: what takes time is left to the
	// sample's parse.
	take() (*sample, error)
	close() error
}

// sample is what a source told at one moment.
type sample struct {
	at int64 // sys.Nanotime; set by take where the sampler's is too coarse
	// counts only ever rise; levels are what stands now.
	counts, levels map[string]int64
	// sparse says that a count which is not there is zero. bits is how many the
	// kernel has for each, where that is so few that they can wrap (up to 32);
	// 0 otherwise.
	sparse bool
	bits   int
	// parse fills in the two from what take has read; nil where take did.
	parse func(*sample) error
}

func newSample() *sample {
	return &sample{counts: map[string]int64{}, levels: map[string]int64{}}
}

// row is a source in the table.
type row struct {
	name  string
	about string
	// byDefault says that it is read unless something else is asked for; whole
	// that it is read around the whole trial too, and last that it is read
	// nearest to the window.
	byDefault, whole, last bool
	open                   func(*Options) (source, error)
}

// Source is a row of the table of sources, for people.
type Source struct {
	Name, About string
	Default     bool
}

// Sources returns the table of sources.
func Sources() []Source {
	var all []Source
	for _, r := range table {
		all = append(all, Source{r.name, r.about, r.byDefault})
	}
	return all
}

// Words that stand for several sources.
const (
	None    = "none"
	Default = "default"
	All     = "all"
)

// CheckNames reports the first of the names that is no source. The words
// "default" and "all" may stand among names, "none" only alone.
func CheckNames(names []string) error {
	for i, n := range names {
		switch {
		case n == None && len(names) > 1:
			return fmt.Errorf("%q stands for no counters at all, and can't be among others", None)
		case n == None || n == Default || n == All:
		case !slices.ContainsFunc(table, func(r row) bool { return r.name == n }):
			var valid []string
			for _, r := range table {
				valid = append(valid, r.name)
			}
			return fmt.Errorf("unknown source of counters %q: valid are %s, %s, %s, %s", n, None, Default, All, strings.Join(valid, ", "))
		case slices.Contains(names[:i], n):
			return fmt.Errorf("source of counters %q is named twice", n)
		}
	}
	return nil
}

// rows are the sources that the names stand for, in the table's order.
func rows(names []string) []row {
	if len(names) == 0 {
		names = []string{Default}
	}
	var all []row
	for _, r := range table {
		if slices.Contains(names, r.name) || slices.Contains(names, All) || r.byDefault && slices.Contains(names, Default) {
			all = append(all, r)
		}
	}
	return all
}

// parsed has the sample's counts and levels filled in.
func (s *sample) parsed() error {
	if s.parse == nil {
		return nil
	}
	if s.counts == nil {
		s.counts, s.levels = map[string]int64{}, map[string]int64{}
	}
	if err := s.parse(s); err != nil {
		return err
	}
	s.parse = nil
	return nil
}

// rise is by how much a count rose; 0 for one that went backwards. Half of what
// bits can hold is more than any window sees.
func (s *sample) rise(was, is int64) int64 {
	if s.bits == 0 {
		return max(is-was, 0)
	}
	d := (is - was) & (1<<s.bits - 1)
	if d >= 1<<(s.bits-1) {
		return 0
	}
	return d
}

// reading is what a source counted between two samples. A count that is there
// at one of them only is left out, and one that went backwards too: that was
// made anew meanwhile.
func reading(name string, before, after *sample) (result.Reading, error) {
	for _, s := range []*sample{before, after} {
		if err := s.parsed(); err != nil {
			return result.Reading{}, err
		}
	}
	r := result.Reading{Source: name, Elapsed: time.Duration(after.at - before.at)}
	for n, v := range after.counts {
		was, there := before.counts[n]
		rose := after.rise(was, v)
		if !there && !after.sparse || rose == 0 {
			continue
		}
		if r.Counts == nil {
			r.Counts = map[string]int64{}
		}
		r.Counts[n] = rose
	}
	if len(after.levels) > 0 {
		r.Levels = maps.Clone(after.levels)
	}
	for n, v := range before.levels {
		if now, there := after.levels[n]; there && now == v {
			continue
		}
		if r.Was == nil {
			r.Was = map[string]int64{}
		}
		r.Was[n] = v
	}
	return r, nil
}

// unavailable is the error of a source that this system has not.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", feature.ErrUnavailable, fmt.Sprintf(format, args...))
}

func now() int64 { return sys.Nanotime() }
