package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// limit is what an experiment may take unless it is told otherwise.
const limit = 90 * time.Second

// variations are an experiment's links and second factors.
func variations(e Experiment) []Options {
	var all []Options
	for _, link := range e.Links {
		seconds := e.Seconds
		if seconds == nil {
			seconds = []string{""}
		}
		for _, s := range seconds {
			o := Usual()
			if o.Link, o.Second = link, s; s == secondLink {
				if link != e.Links[0] {
					continue // it is not to be given
				}
				o.Link = ""
			}
			all = append(all, o)
		}
	}
	return all
}

func needTwoCPUs(t *testing.T) {
	t.Helper()
	if cpus, err := sys.OnlineCPUs(); err != nil || len(cpus) < 2 {
		labtest.Skip(t, fmt.Errorf("two CPUs are needed: %d, %v", len(cpus), err))
	}
}

// Every experiment's default is a plan that can be run on each of its links, says
// what it is for, and is done in time.
func TestDefaultPlans(t *testing.T) {
	needTwoCPUs(t)
	for _, e := range Experiments() {
		if e.Name == "" || e.Question == "" || e.Page == "" || len(e.finders) == 0 {
			t.Errorf("%q: an incomplete row", e.Name)
		}
		for _, o := range variations(e) {
			what := strings.Join([]string{e.Name, o.Link, o.Second}, " ")
			o, err := e.Complete(o)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			p, err := e.Plan(o)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if err := compare.CheckMetrics(&p); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if takes := Takes(&p); takes >= limit {
				t.Errorf("%s: takes %v, want less than %v", what, takes, limit)
			}
			if fewest := compare.FewestBlocks(&p); p.Blocks < fewest {
				t.Errorf("%s: %d blocks are too few for a verdict, which needs %d", what, p.Blocks, fewest)
			}
			varied, err := e.Varies(o)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range p.Factors {
				if v := varied[i]; v.Name != f.Name || v.About == "" || len(v.Levels) == 0 || v.Usual[0] != p.Baseline[f.Name] {
					t.Errorf("%s: factor %+v, varied %+v", what, f, v)
				}
			}
		}
	}
}

// Each level that is listed can be chosen, and one that is none is told what is.
func TestLevels(t *testing.T) {
	needTwoCPUs(t)
	for _, e := range Experiments() {
		for _, o := range variations(e) {
			factors, err := e.factors(o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range factors {
				f := &factors[i]
				if (f.valid == nil) == (f.forms == nil) {
					t.Errorf("%s %s: levels are listed or made up, one of the two", e.Name, f.name)
				}
				for _, l := range slices.Concat(f.usual, f.valid) {
					if _, _, err := f.chosen([]string{l, l + spec.Again}, ""); err != nil {
						t.Errorf("%s: %v", e.Name, err)
					}
				}
				_, _, err := f.chosen([]string{"nonsense"}, "")
				if err == nil || !strings.Contains(err.Error(), `unknown level "nonsense" of `+f.name) || !strings.Contains(err.Error(), "valid are "+first(f)) {
					t.Errorf("%s: error %v does not name the levels of %s", e.Name, err, f.name)
				}
			}
		}
	}
}

// first is the level that is named first of those that there are.
func first(f *factor) string {
	if f.valid != nil {
		return f.valid[0]
	}
	return f.forms[0]
}

func TestMadeUpLevels(t *testing.T) {
	for _, c := range []struct {
		f      *factor
		level  string
		want   string // settings, or a part of the error
		failed bool
	}{
		{&mitigates, "off", "wire.line=on wire.frames=1 wire.wait=0us", false},
		{&mitigates, "8/30us", "wire.line=on wire.frames=8 wire.wait=30us", false},
		{&mitigates, "8", "as in 4/50us", true},
		{&mitigates, "0/1us", "frames", true},
		{&mitigates, "4/", "wait", true},
		{&mitigates, "4/1h", "wait", true},
		{&rates, "full", "wire.line=on wire.rate=none", false},
		{&rates, "10Mbit/s", "wire.line=on wire.rate=10Mbit/s", false},
		{&rates, "fast", "valid are full, and rates as in 100Mbit/s", true},
		{&putIn, "none", "wire.line=on wire.delay=0us wire.loss=none wire.duplicate=none wire.reorder=none wire.rate=none busy=none", false},
		{&putIn, "delay-40us", "wire.line=on wire.delay=40us wire.loss=none wire.duplicate=none wire.reorder=none wire.rate=none busy=none", false},
		{&putIn, "loss-1/7", "wire.line=on wire.delay=0us wire.loss=1/7 wire.duplicate=none wire.reorder=none wire.rate=none busy=none", false},
		{&putIn, "rate-2Mbit/s", "wire.line=on wire.delay=0us wire.loss=none wire.duplicate=none wire.reorder=none wire.rate=2Mbit/s busy=none", false},
		{&putIn, "busy-remote", "wire.line=on wire.delay=0us wire.loss=none wire.duplicate=none wire.reorder=none wire.rate=none busy=remote", false},
		{&putIn, "busy-local", "valid are none, delay-TIME", true},
		{&putIn, "delay", "valid are none, delay-TIME", true},
		{&putIn, "delay-", "valid are none, delay-TIME", true},
		{&putIn, "none-1", "valid are none, delay-TIME", true},
		{&putIn, "frames-4", "valid are none, delay-TIME", true},
		{&putIn, "loss-2/1", "loss", true},
	} {
		settings, err := c.f.set(c.level)
		var words []string
		for _, s := range settings {
			words = append(words, s.Knob+"="+s.Value)
		}
		got := strings.Join(words, " ")
		if err != nil {
			got = err.Error()
		}
		if (err != nil) != c.failed || c.failed && !strings.Contains(got, c.want) || !c.failed && got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.f.name, c.level, got, c.want)
		}
	}
}

// Whatever is written as a level is settings that hold, or an error in a line.
func FuzzLevels(f *testing.F) {
	for _, l := range slices.Concat(mitigates.usual, rates.usual, putIn.usual, []string{"50", "4/-1us", "-", "/", "loss-1/0", "none-again"}) {
		f.Add(l)
	}
	busy, err := busyPolled(Usual())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, level string) {
		for _, free := range []*factor{&mitigates, &rates, &putIn, &busy} {
			settings, err := free.set(level)
			if err != nil {
				if len(err.Error()) > 2000 {
					t.Errorf("%s: an error of %d bytes", free.name, len(err.Error()))
				}
				continue
			}
			for _, s := range settings {
				if err := s.Validate(); err != nil {
					t.Errorf("%s %q: %v", free.name, level, err)
				}
			}
		}
	})
}

func TestRefusedOptions(t *testing.T) {
	needTwoCPUs(t)
	wire := func(text string) func(*Options) {
		return func(o *Options) {
			var err error
			if o.Wire, err = spec.ParseWire(text); err != nil {
				panic(err)
			}
		}
	}
	for _, c := range []struct {
		experiment string
		change     func(*Options)
		want       string
	}{
		{"rx-context", func(o *Options) { o.Second = "link" }, "rx-context has no second factor to choose: two-factor has"},
		{"rx-context", func(o *Options) { o.Context = "softirq" }, "context softirq is given, and rx-context varies that itself"},
		{"rx-context", func(o *Options) { o.Levels = map[string][]string{"tx": {"a", "b"}} }, `rx-context has no factor "tx": valid are rx`},
		{"rx-context", func(o *Options) {
			o.Levels = map[string][]string{"": {"inline", "softirq"}, "rx": {"inline", "softirq"}}
		}, "rx is given twice"},
		{"two-factor", func(o *Options) { o.Second = "weather" }, `unknown second factor "weather" of two-factor: valid are pinned, busypoll, link`},
		{"two-factor", func(o *Options) { o.CPULocal = sys.NoCPU }, "pinned needs a CPU for each end"},
		{"two-factor", func(o *Options) {
			o.Second, o.Levels = "busypoll", map[string][]string{"busypoll": {"off", "fast"}}
		}, "valid are off, and microseconds"},
		{"send-path", func(o *Options) { o.Link = netlab.Veth }, `unknown link "veth" of send-path: valid are ether`},
		{"send-path", wire("rate=1Mbit/s"), "wire.rate 1Mbit/s is given, and send-path varies that itself"},
		{"truth", wire("loss=1/3"), "wire.loss 1/3 is given, and truth varies that itself"},
		{"tun-rx", func(o *Options) { o.Sizes = []int{7} }, "the tests of tun-rx have sizes of their own"},
	} {
		e, err := Find(c.experiment)
		if err != nil {
			t.Fatal(err)
		}
		o := Usual()
		c.change(&o)
		if o, err = e.Complete(o); err == nil {
			_, err = e.Plan(o)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.experiment, err, c.want)
		}
	}
}

// What is told of CPUs that are kept awake is that they are.
func TestKeptAwake(t *testing.T) {
	o := Usual()
	o.Awake = true
	o, err := rxContext.Complete(o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[spec.Test]bool{}
	for _, test := range o.Beside {
		if test.Params.Busy == "" || seen[test] {
			t.Errorf("%s beside", test)
		}
		seen[test] = true
	}
	plan, err := rxContext.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, awake := range []bool{true, false} {
		o.Awake = awake
		if told := slices.ContainsFunc(o.Facts(plan), func(f compare.Fact) bool { return f.Name == "kept awake" }); told != awake {
			t.Errorf("kept awake %v, told %v", awake, told)
		}
	}
}

// A user who can't have page fragments has the rest of tun-rx.
func TestTunRxWithoutFragments(t *testing.T) {
	varied, err := tunRx.Varies(Usual())
	if err != nil {
		t.Fatal(err)
	}
	f := varied[0]
	has := feature.TAPFrags.Err() == nil
	if slices.Contains(f.Usual, "frags") != has || (len(f.Missing) == 0) != has || !slices.Contains(f.Levels, "frags") || len(f.Usual) < 3 {
		t.Errorf("page fragments %v: %+v", has, f)
	}
}

// A link that is given says nothing where the link is what varies.
func TestLinkThatVaries(t *testing.T) {
	o := Usual()
	o.Second = secondLink
	if _, err := twoFactor.Complete(o); err != nil {
		t.Error(err)
	}
	o.Link = netlab.Veth
	if _, err := twoFactor.Complete(o); err == nil || !strings.Contains(err.Error(), "link veth is given, and two-factor varies that itself") {
		t.Error(err)
	}
}
