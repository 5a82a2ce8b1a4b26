package spec

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Document is a whole plan file: what is to be measured, and where.
type Document struct {
	Plan Plan
	// One of the two is set; neither where the command line names the hosts.
	Hosts *Hosts
	Lab   *Lab
	// SeedGiven says that the file has a seed; Plan.Seed is 0 otherwise, for the
	// caller to draw one.
	SeedGiven bool
}

// Hosts are the two ends of a plan between hosts.
type Hosts struct {
	// Remote is the far end's agent as on a command line, Local the near end's;
	// an empty Local is this program's own.
	Remote string
	Local  string
	// Data are the addresses of the path, as run's --data has them.
	Data string
	// CPULocal and CPURemote are the CPUs of the traffic threads, "none" or
	// numbers, comma-separated; empty for none.
	CPULocal, CPURemote string
	// DeviceLocal and DeviceRemote are the interfaces that sockets are bound to.
	DeviceLocal, DeviceRemote string
}

// Lab is a lab's link where no factor says otherwise. Empty fields are the
// lab's defaults.
type Lab struct {
	Link    string // veth or ether
	Context string // of the receive handlers
	Offload bool
	MTU     int
	IPv6    bool
	// CPULocal, CPURemote and CPUWire are as the lab's flags have them.
	CPULocal, CPURemote, CPUWire string
	// Wire is what the wire of ether does to frames.
	Wire Wire
}

// Defaults of a plan file.
const (
	defaultName      = "plan"
	defaultBlocks    = 24
	defaultWindow    = 500 * time.Millisecond
	defaultLabWindow = 200 * time.Millisecond
	maxDefaultWarmup = time.Second
	defaultMargin    = 0.02
)

// ParseDocument reads a plan file, which docs/plans.md explains. Every error is
// one line that says where in the file it is, followed by that line of the file
// and a caret below the place.
func ParseDocument(data []byte) (Document, error) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
	r := reader{nodes: map[string]*node{}}
	d, err := r.document(text)
	if err != nil {
		return Document{}, r.locate(err, text)
	}
	return d, nil
}

func (r *reader) document(text string) (Document, error) {
	if i := strings.IndexRune(strings.ToValidUTF8(text, "\x00"), 0); i >= 0 {
		before := text[:i]
		line := strings.Count(before, "\n") + 1
		return Document{}, &place{line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1,
			errors.New("there is no text: a plan file is UTF-8")}
	}
	root, err := parseYAML(text)
	if err != nil {
		return Document{}, err
	}
	r.mark(root)
	var d Document
	p := &d.Plan
	*p = Plan{Experiment: defaultName, Blocks: defaultBlocks, Margin: defaultMargin}
	var tests, sizes, variants *node
	var seed string
	warmed := false
	known := []field{
		{"name", readText("name", &p.Experiment)},
		{"question", r.question(p)},
		{"hosts", func(n *node) error { d.Hosts = &Hosts{}; return r.hosts(n, d.Hosts) }},
		{"lab", func(n *node) error { d.Lab = &Lab{}; return r.lab(n, d.Lab) }},
		{"factors", func(n *node) error { return r.factors(n, p) }},
		{"variants", keep(&variants)},
		{"fraction", readText("fraction", &p.Fraction)},
		{"tests", keep(&tests)},
		{"sizes", keep(&sizes)},
		{"beside", r.beside(p)},
		{"each", readInt("each", &p.Each)},
		{"explain", readText("explain", &p.Explain)},
		{"blocks", readInt("blocks", &p.Blocks)},
		{"precision", readPercent("precision", &p.Precision)},
		{"limit", readDuration("limit", &p.Limit)},
		{"time", readDuration("time", &p.Window)},
		{"warmup", func(n *node) error { warmed = true; return readDuration("warmup", &p.Warmup)(n) }},
		{"interval", readDuration("interval", &p.Interval)},
		{"seed", readText("seed", &seed)},
		{"margin", readPercent("margin", &p.Margin)},
		{"metrics", r.names("metrics", &p.Metrics)},
		{"counters", r.names("counters", &p.Counters)},
		{"soak", readBool("soak", &p.Soak)},
	}
	for i, f := range known {
		known[i].read = func(n *node) error { r.mark(n, f.name); return f.read(n) }
	}
	if err := root.fields("a plan", known); err != nil {
		return d, err
	}
	if d.Hosts != nil && d.Lab != nil {
		return d, r.nodes["lab"].wrong("a plan has hosts or a lab, not both")
	}
	if err := checkName(p.Experiment); err != nil {
		return d, faultAt(at("name"), "name %s: %w", quoted(p.Experiment), err)
	}
	if d.SeedGiven = seed != ""; d.SeedGiven {
		if p.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return d, faultAt(at("seed"), "seed %s is no whole number from 0 to 2^64-1", quoted(seed))
		}
	}
	if r.nodes["time"] == nil {
		if p.Window = defaultWindow; d.Lab != nil {
			p.Window = defaultLabWindow
		}
	}
	if !warmed {
		p.Warmup = min(p.Window/4, maxDefaultWarmup)
	}
	if err := r.tests(tests, sizes, p); err != nil {
		return d, err
	}
	if err := r.choose(variants, p); err != nil {
		return d, err
	}
	if err := d.validateLink(); err != nil {
		return d, err
	}
	return d, p.Validate()
}

func keep(to **node) func(*node) error {
	return func(n *node) error { *to = n; return nil }
}

// question is a text that may be of several lines in the file.
func (r *reader) question(p *Plan) func(*node) error {
	return func(n *node) error {
		s, err := n.word("question")
		if err != nil {
			return err
		}
		folded := *n
		folded.text = strings.Join(strings.Fields(s), " ")
		return readText("question", &p.Question)(&folded)
	}
}

// choose works out which variants are run where not all are.
func (r *reader) choose(variants *node, p *Plan) error {
	if variants == nil && p.Fraction == "" {
		return nil
	}
	if err := p.validateFactors(); err != nil {
		return err
	}
	if variants != nil && p.Fraction != "" {
		return r.nodes["fraction"].wrong("a plan has variants or a fraction, not both")
	}
	if variants == nil {
		var err error
		p.Chosen, err = FractionOf(p.Factors, p.Baseline, p.Fraction)
		return within(err, "fraction")
	}
	if variants.kind != sequence {
		return variants.wrong("variants is a list of mappings, as in [{gro: on, threads: off}], not %s", variants.shown())
	}
	p.Chosen = []Variant{}
	for i, item := range variants.items {
		if item.kind != mapping {
			return item.wrong("a variant is a mapping of factors to levels, not %s", item.shown())
		}
		v := Variant{}
		where := at("variants", strconv.Itoa(i))
		r.mark(item, where...)
		for _, e := range item.entries {
			level, err := e.value.word("a level")
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(p.Factors, func(f Factor) bool { return f.Name == e.key.text }) {
				return e.key.wrong("variant %d: there is no factor %s", i+1, quoted(e.key.text))
			}
			v[e.key.text] = level
			r.mark(e.value, append(where, e.key.text)...)
		}
		p.Chosen = append(p.Chosen, v)
	}
	return nil
}

// validateLink holds what is set of a link to labs.
func (d *Document) validateLink() error {
	if d.Lab != nil {
		return nil
	}
	for _, f := range d.Plan.Factors {
		for _, l := range f.Levels {
			for _, s := range f.Settings[l] {
				if k, _, err := s.Row(); err == nil && k.Scope == OnLink {
					return faultAt(at("factors", f.Name), "factor %s: %s is of a lab's link, and the plan has no lab", f.Name, s.Knob)
				}
			}
		}
	}
	return nil
}
