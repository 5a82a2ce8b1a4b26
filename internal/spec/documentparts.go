package spec

import (
	"slices"
	"strconv"
)

func (r *reader) hosts(n *node, h *Hosts) error {
	err := n.fields("hosts", []field{
		{"remote", readText("remote", &h.Remote)},
		{"local", readText("local", &h.Local)},
		{"data", readText("data", &h.Data)},
		{"cpu-local", readCPUs("cpu-local", &h.CPULocal)},
		{"cpu-remote", readCPUs("cpu-remote", &h.CPURemote)},
		{"device-local", readDevice("device-local", &h.DeviceLocal)},
		{"device-remote", readDevice("device-remote", &h.DeviceRemote)},
	})
	if err == nil && h.Remote == "" {
		return n.wrong("hosts needs remote, the agent at the far end, as in 192.0.2.2:7117")
	}
	return err
}

func readDevice(what string, to *string) func(*node) error {
	return func(n *node) error {
		s, err := n.word(what)
		if err != nil {
			return err
		}
		if err := (Setting{Device: s}).checkDevice(Knob{Scope: OnDevice}); err != nil || s == "" {
			return n.wrong("%s: %s is no interface's name", what, quoted(s))
		}
		*to = s
		return nil
	}
}

func (r *reader) lab(n *node, l *Lab) error {
	err := n.fields("lab", []field{
		{"link", readKnob("link", &l.Link)},
		{"context", readKnob("context", &l.Context)},
		{"offload", readBool("offload", &l.Offload)},
		{"mtu", func(n *node) error {
			if err := readInt("mtu", &l.MTU)(n); err != nil {
				return err
			}
			return readKnob("link-mtu", new(string))(n)
		}},
		{"wire", readWire(&l.Wire)},
		{"ipv6", readBool("ipv6", &l.IPv6)},
		{"cpu-local", readCPUs("cpu-local", &l.CPULocal)},
		{"cpu-remote", readCPUs("cpu-remote", &l.CPURemote)},
		{"cpu-wire", readCPUs("cpu-wire", &l.CPUWire)},
	})
	return err
}

func readWire(to *Wire) func(*node) error {
	return func(n *node) error {
		s, err := n.word("wire")
		if err != nil {
			return err
		}
		if *to, err = ParseWire(s); err != nil {
			return n.wrong("%w", err)
		}
		return nil
	}
}

// readKnob reads what a knob without an argument may be set to.
func readKnob(name string, to *string) func(*node) error {
	return func(n *node) error {
		s, err := n.word(name)
		if err != nil {
			return err
		}
		k, _, err := knobOf(name)
		if err != nil {
			return err
		}
		if err := k.check("", s); err != nil {
			return n.wrong("%s: %w", name, err)
		}
		*to = s
		return nil
	}
}

// names reads a list of names.
func (r *reader) names(what string, to *[]string) func(*node) error {
	return func(n *node) error {
		items, err := n.words(what)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return n.wrong("%s names nothing: leave it out for the usual ones", what)
		}
		for _, item := range items {
			if err := checkName(item.text); err != nil {
				return item.wrong("%s: %s: %w", what, quoted(item.text), err)
			}
			if slices.Contains(*to, item.text) {
				return item.wrong("%s: %s is named twice", what, item.text)
			}
			r.mark(item, what, item.text)
			*to = append(*to, item.text)
		}
		return nil
	}
}

// tests reads the tests, and the sizes that those without one are run with.
func (r *reader) tests(tests, sizes *node, p *Plan) error {
	var bytes []int
	if sizes != nil {
		items, err := sizes.words("sizes")
		if err != nil {
			return err
		}
		for _, item := range items {
			some, err := ParseSizes(item.text)
			if err != nil {
				return item.wrong("sizes: %w", err)
			}
			for _, n := range some {
				if slices.Contains(bytes, n) {
					return item.wrong("sizes: %d is given twice", n)
				}
			}
			if bytes = append(bytes, some...); len(bytes) > maxSizes {
				return item.wrong("sizes: there are more than %d", maxSizes)
			}
		}
	}
	items := []*node{}
	for _, name := range usual {
		items = append(items, &node{text: name, line: 1, column: 1})
	}
	if tests != nil {
		var err error
		if items, err = tests.words("tests"); err != nil {
			return err
		}
	}
	return r.testList(items, bytes, "tests", &p.Tests)
}

// beside reads the tests that run beside.
func (r *reader) beside(p *Plan) func(*node) error {
	return func(n *node) error {
		items, err := n.words("beside")
		if err != nil {
			return err
		}
		return r.testList(items, nil, "beside", &p.Beside)
	}
}

// testList reads tests, which are at that key of the plan.
func (r *reader) testList(items []*node, bytes []int, key string, to *[]Test) error {
	for i := 0; i < len(items); i++ {
		item := items[i]
		list := item.text
		// A comma between sizes has cut a list in brackets, too.
		for ; i+1 < len(items) && startsWithDigit(items[i+1].text); i++ {
			list += "," + items[i+1].text
		}
		some, err := ParseTests(list, bytes)
		if err != nil {
			return item.wrong("%w", err)
		}
		for _, t := range some {
			r.mark(item, key, strconv.Itoa(len(*to)))
			*to = append(*to, t)
		}
		if len(*to) > MaxTests {
			return item.wrong("there are more than %d tests", MaxTests)
		}
	}
	return nil
}

// MaxTests is the most tests of a plan file, each size counted: every test is
// compared with every other.
const MaxTests = 2000

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
