package counters

import (
	"runtime"
	"testing"

	"netdelta/internal/sys"
)

// What one sample of each source costs, as the sampler takes it beside a
// window; "parse" is what is left until the trial is over.
func BenchmarkSource(b *testing.B) {
	for _, r := range table {
		o := benchmarkOptions(b)
		s, err := r.open(o)
		if err != nil {
			b.Logf("%s: %v", r.name, err)
			continue
		}
		take := s.take
		if q, is := s.(*queues); is { // what matters is what one look takes
			q.levels = map[string]*tally{}
			take = func() (*sample, error) { q.look(); return newSample(), nil }
		}
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := take(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(r.name+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			x, err := s.take()
			if err != nil {
				b.Fatal(err)
			}
			parse := x.parse
			if parse == nil || x.parsed() != nil {
				b.Skip("the sample is ready as it is taken, or there is nothing to be read")
			}
			for b.Loop() {
				x.counts, x.levels, x.parse = nil, nil, parse
				if err := x.parsed(); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := s.close(); err != nil {
			b.Error(err)
		}
	}
}

// What a sample of all default sources costs, and the visit of the CPUs before
// it.
func BenchmarkSnapshot(b *testing.B) {
	s, err := New(*benchmarkOptions(b))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.Thread(0, sys.ThreadID())
	b.Run("sources", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, t := range s.order() {
				if _, err := t.now(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("visit", func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for b.Loop() {
			s.visit()
		}
	})
}

func benchmarkOptions(b *testing.B) *Options {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		b.Fatal(err)
	}
	return &Options{root: "/", Device: "eth0", CPUs: cpus, threads: &threads{list: []thread{{tid: sys.ThreadID()}}}, sockets: &sockets{}}
}
