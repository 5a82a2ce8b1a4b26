package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Test is a traffic pattern with its parameters.
type Test struct {
	Name   string `json:"test"`
	Params Params `json:"params"`
}

// NewTest returns the named test with its defaults filled in, or an error
// that names the valid ones.
func NewTest(name string, p Params) (Test, error) {
	t := Test{Name: name, Params: p}
	if err := t.complete(); err != nil {
		return Test{}, err
	}
	return t, nil
}

// complete fills in defaults and checks every limit.
func (t *Test) complete() error {
	k, ok := KindOf(t.Name)
	if !ok {
		return fmt.Errorf("unknown test %q: valid are %s", t.Name, strings.Join(TestNames(), ", "))
	}
	if t.Params.Size == 0 && t.Params.Request == 0 && t.Params.Response == 0 {
		t.Params.Size = k.Default.Size
	}
	if t.Params.By == "" {
		t.Params.By = k.Default.By
	}
	t.normalize(k)
	for _, p := range params {
		if p.get(&t.Params) == "" {
			continue
		}
		if !slices.Contains(k.Accepts, p.name) {
			return fmt.Errorf("test %s takes no %s: it takes %s", t.Name, p.name, strings.Join(k.Accepts, ", "))
		}
		if err := p.check(&t.Params, k); err != nil {
			return err
		}
	}
	for _, r := range rules {
		if why := r(*t, k); why != "" {
			return fmt.Errorf("test %s: %s", t.Name, why)
		}
	}
	return nil
}

// normalize leaves out what is so anyway: two ways to write a test are one test.
func (t *Test) normalize(k Kind) {
	p := &t.Params
	if p.Request != 0 && p.Request == p.Response {
		p.Size, p.Request, p.Response = p.Request, 0, 0
	}
	for _, n := range []*int{&p.Flows, &p.Threads, &p.Burst} {
		if *n == 1 {
			*n = 0
		}
	}
	if p.Send == sendMethods[0].Name {
		p.Send = ""
	}
	if p.Recv == recvMethods[0].Name {
		p.Recv = ""
	}
	if p.Wait == waits[0] {
		p.Wait = ""
	}
	if p.CatchUp == Off && t.OpenLoop() {
		p.CatchUp = ""
	}
	if p.NoDelay != "" && string(p.NoDelay) == k.noDelay() {
		p.NoDelay = ""
	}
}

// rules are what parameters must keep to together: each says what is wrong,
// or nothing.
var rules = []func(Test, Kind) string{
	func(t Test, _ Kind) string {
		if t.Threads() > t.Flows() {
			return fmt.Sprintf("%d threads have nothing to do with %d flows: take threads up to flows", t.Threads(), t.Flows())
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.Params.Count != 0 && t.Params.Bytes != 0 {
			return "both count and bytes end the window: give one of them"
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.Params.CatchUp != "" && !t.OpenLoop() {
			return "catchup is about a rate, and none is given"
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.OpenLoop() && (t.Flows() > 1 || t.Params.Burst != 0) {
			return "a rate is that of one flow: it goes with neither flows nor burst (pacing has a rate for each flow of a stream)"
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.Params.Load != "" && (t.Flows() > 1 || t.Params.Burst != 0) {
			return "load goes with one flow and one outstanding request"
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.Params.Explain != "" && (t.Flows() > 1 || t.Params.Burst != 0 || t.Params.Load != "" || t.OpenLoop()) {
			return "explain watches one round trip after another: it goes with neither flows, burst, load nor rate"
		}
		return ""
	},
	func(t Test, k Kind) string {
		if f := t.SendMethod().File; k.IsStream() && !f && (t.Params.File != "" || t.Params.FileSize != 0) {
			return fmt.Sprintf("send method %s sends no file: %s do", t.SendMethod().Name, strings.Join(fileMethods(), ", "))
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if t.Params.File != "" && t.Params.FileSize != 0 {
			return "file is as long as it is: filesize is for one that is made for the trial"
		}
		return ""
	},
	func(t Test, k Kind) string {
		if k.Pattern == Connect && t.Flows() > t.Threads() {
			return fmt.Sprintf("%s has one connection a thread at a time: give as many threads as flows", t.Name)
		}
		return ""
	},
	func(t Test, _ Kind) string {
		if n := t.Flows() * t.Burst(); n > MaxOutstanding {
			return fmt.Sprintf("%d outstanding requests in all are more than %d: take fewer flows or a smaller burst", n, MaxOutstanding)
		}
		return ""
	},
	func(t Test, k Kind) string {
		if k.Pattern != RoundTrip || k.Protocol != UDP || min(t.RequestSize(), t.ResponseSize()) > 1 || t.Burst() <= MaxBurstOfBytes {
			return ""
		}
		return fmt.Sprintf("messages of one byte have no room for the numbers of more than %d outstanding requests: take a smaller burst, or two bytes", MaxBurstOfBytes)
	},
	func(t Test, _ Kind) string {
		if p := t.Params; p.Size != 0 && p.Request != 0 && p.Response != 0 {
			return "size says nothing beside both request and response: leave it out"
		}
		return ""
	},
	func(t Test, k Kind) string {
		if !k.IsStream() || t.Flows() <= t.Threads() {
			return ""
		}
		for _, m := range []Method{t.SendMethod(), t.RecvMethod()} {
			if !m.Many {
				return fmt.Sprintf("method %s serves one flow in each thread: give as many threads as flows", m.Name)
			}
		}
		return ""
	},
}

func fileMethods() []string {
	var names []string
	for _, m := range sendMethods {
		if m.File {
			names = append(names, m.Name)
		}
	}
	return names
}

// RequestSize is the bytes that the local end sends in one message.
func (t Test) RequestSize() int { return firstNonZero(t.Params.Request, t.Params.Size) }

// ResponseSize is the bytes that the remote end answers with.
func (t Test) ResponseSize() int { return firstNonZero(t.Params.Response, t.Params.Size) }

// Flows is the number of connections or sockets, 1 and up.
func (t Test) Flows() int { return max(t.Params.Flows, 1) }

// Threads is the number of traffic threads of each end, 1 and up.
func (t Test) Threads() int { return max(t.Params.Threads, 1) }

// EndThreads is the number of threads that carry traffic at one end, the one
// of a stream beside included.
func (t Test) EndThreads() int {
	n := t.Threads()
	switch t.Kind().Pattern {
	case Duplex, Wake:
		n = 2
	}
	if t.Params.Load != "" {
		n += Test{Name: t.Params.Load}.EndThreads()
	}
	return n
}

// Burst is how many requests of each flow are outstanding, 1 and up.
func (t Test) Burst() int { return max(t.Params.Burst, 1) }

// OpenLoop says that messages are sent at a fixed rate, whatever becomes of
// those before.
func (t Test) OpenLoop() bool { return t.Params.Rate != 0 || t.Params.BitRate != 0 }

// Slots is an open loop's messages per second; 0 for a test that is none. A
// rate in bits is that of the messages from the sender of a stream, and of
// requests.
func (t Test) Slots() float64 {
	if t.Params.BitRate != 0 {
		return float64(t.Params.BitRate) / 8 / float64(t.RequestSize())
	}
	return float64(t.Params.Rate)
}

// Kind returns the test's row; the zero Kind for a test that NewTest or
// ParseTests did not make.
func (t Test) Kind() Kind { k, _ := KindOf(t.Name); return k }

func firstNonZero(a, b int) int {
	switch {
	case a != 0:
		return a
	case b != 0:
		return b
	}
	return 1 // only one direction was given: the other carries one byte
}

// String is the test as a user writes it: "tcp_stream size=128KiB".
func (t Test) String() string {
	var b strings.Builder
	b.WriteString(t.Name)
	for _, p := range params {
		if v := p.get(&t.Params); v != "" {
			fmt.Fprintf(&b, " %s=%s", p.name, v)
		}
	}
	return b.String()
}

// Short is the test as a report's table shows it: the name, and the
// parameters that differ from the test's defaults.
func (t Test) Short() string {
	d := t.Kind().Default
	var b strings.Builder
	b.WriteString(t.Name)
	for _, p := range params {
		v := p.get(&t.Params)
		if v == "" || v == p.get(&d) {
			continue
		}
		switch p.name {
		case "size", "by", "send": // the value speaks for itself
			fmt.Fprintf(&b, " %s", v)
		default:
			fmt.Fprintf(&b, " %s=%s", p.name, v)
		}
	}
	return b.String()
}
