// Package spec is the experiment language: tests with their parameters,
// factors with their levels, and the plan that crosses them into a seeded
// random schedule of trials. It is pure: no clock, no kernel, no files.
package spec

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/unit"
)

// Pattern is the shape of a test's traffic.
type Pattern int

const (
	// Echo is a request that the far kernel answers: no worker at the far end.
	Echo Pattern = iota
	// RoundTrip is request and response, one outstanding.
	RoundTrip
	// Stream is one way, from local to remote, as fast as the path takes it.
	Stream
)

// Protocol is what carries a test.
type Protocol string

const (
	ICMP Protocol = "icmp"
	UDP  Protocol = "udp"
	TCP  Protocol = "tcp"
)

// Limits of message sizes in bytes. A UDP payload and an ICMP echo payload
// both leave 65535 - 20 (IPv4 header) - 8 (UDP or ICMP header).
const (
	MaxDatagram = 65507
	MaxMessage  = 1 << 30
	MaxSockBuf  = 1 << 30
	IPOverhead  = 28 // IPv4 and UDP or ICMP headers
)

// Kind describes one test: a row of the table of tests.
type Kind struct {
	Name     string
	Pattern  Pattern
	Protocol Protocol
	Default  Params
	MaxSize  int      // bytes, largest message
	Accepts  []string // names of the parameters that this test takes
	About    string
}

// kinds is the table of tests. A new test is a row here and an engine in
// package traffic.
var kinds = []Kind{
	{"icmp_echo", Echo, ICMP, Params{Size: 56}, MaxDatagram,
		[]string{"size", "sndbuf", "rcvbuf"}, "ICMP echo, next request when the reply is in"},
	{"udp_rr", RoundTrip, UDP, Params{Size: 1}, MaxDatagram,
		[]string{"size", "request", "response", "sndbuf", "rcvbuf"}, "UDP request and response"},
	{"tcp_rr", RoundTrip, TCP, Params{Size: 1}, MaxMessage,
		[]string{"size", "request", "response", "sndbuf", "rcvbuf"}, "TCP request and response on one connection, TCP_NODELAY"},
	{"udp_stream", Stream, UDP, Params{Size: 1024}, MaxDatagram,
		[]string{"size", "sndbuf", "rcvbuf"}, "UDP datagrams one way, counted at the receiver"},
	{"tcp_stream", Stream, TCP, Params{Size: 128 << 10}, MaxMessage,
		[]string{"size", "sndbuf", "rcvbuf"}, "TCP bytes one way, counted at the receiver"},
}

// Kinds returns the table of tests, in the order in which reports show them.
func Kinds() []Kind { return slices.Clone(kinds) }

// TestNames returns the names of all tests.
func TestNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// KindOf returns the row of the test with that name.
func KindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Params are a test's parameters. Sizes and buffers are in bytes. Zero means
// the test's default, or for a buffer the kernel's.
type Params struct {
	// Size is the message's size; for round trips that of both directions.
	Size int `json:"size,omitempty"`
	// Request and Response are the two directions' sizes where they differ.
	Request  int `json:"request,omitempty"`
	Response int `json:"response,omitempty"`
	// SndBuf and RcvBuf are SO_SNDBUF and SO_RCVBUF of both ends, as given
	// to setsockopt (the kernel doubles them, socket(7)).
	SndBuf int `json:"sndbuf,omitempty"`
	RcvBuf int `json:"rcvbuf,omitempty"`
}

// param is one parameter's row: how it is set and what it may be.
type param struct {
	name  string
	field func(*Params) *int
	about string
}

var params = []param{
	{"size", func(p *Params) *int { return &p.Size }, "message size in bytes"},
	{"request", func(p *Params) *int { return &p.Request }, "request size in bytes"},
	{"response", func(p *Params) *int { return &p.Response }, "response size in bytes"},
	{"sndbuf", func(p *Params) *int { return &p.SndBuf }, "SO_SNDBUF in bytes"},
	{"rcvbuf", func(p *Params) *int { return &p.RcvBuf }, "SO_RCVBUF in bytes"},
}

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
	for _, p := range params {
		v := *p.field(&t.Params)
		if v == 0 {
			continue
		}
		if !slices.Contains(k.Accepts, p.name) {
			return fmt.Errorf("test %s takes no %s: it takes %s", t.Name, p.name, strings.Join(k.Accepts, ", "))
		}
		if v < 1 || v > k.limit(p.name) {
			return fmt.Errorf("test %s: %s %d is out of range: 1 to %d bytes", t.Name, p.name, v, k.limit(p.name))
		}
	}
	return nil
}

// limit is the largest value in bytes that a test's parameter may have.
func (k Kind) limit(param string) int {
	if strings.HasSuffix(param, "buf") {
		return MaxSockBuf
	}
	return k.MaxSize
}

// RequestSize is the bytes that the local end sends in one message.
func (t Test) RequestSize() int { return firstNonZero(t.Params.Request, t.Params.Size) }

// ResponseSize is the bytes that the remote end answers with.
func (t Test) ResponseSize() int { return firstNonZero(t.Params.Response, t.Params.Size) }

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
		if v := *p.field(&t.Params); v != 0 {
			fmt.Fprintf(&b, " %s=%s", p.name, unit.FormatSize(int64(v)))
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
		if v := *p.field(&t.Params); v != 0 && v != *p.field(&d) {
			if p.name == "size" {
				fmt.Fprintf(&b, " %s", unit.FormatSize(int64(v)))
				continue
			}
			fmt.Fprintf(&b, " %s=%s", p.name, unit.FormatSize(int64(v)))
		}
	}
	return b.String()
}

// ParseTests reads a comma-separated list of tests, each a name and its
// parameters separated by blanks: "udp_rr size=1,tcp_stream size=128KiB".
// A test that has no size of its own is crossed with sizes, if there are any.
func ParseTests(list string, sizes []int) ([]Test, error) {
	var tests []Test
	for _, item := range strings.Split(list, ",") {
		t, err := parseTest(item)
		if err != nil {
			return nil, err
		}
		var crossed []Test
		if p := t.Params; len(sizes) == 0 || p.Size != 0 || p.Request != 0 || p.Response != 0 {
			crossed = []Test{t}
		} else {
			for _, s := range sizes {
				c := t
				c.Params.Size = s
				crossed = append(crossed, c)
			}
		}
		for _, c := range crossed {
			if err := c.complete(); err != nil {
				return nil, err
			}
			if slices.Contains(tests, c) {
				return nil, fmt.Errorf("test %q is named twice", c)
			}
			tests = append(tests, c)
		}
	}
	return tests, nil
}

func parseTest(item string) (Test, error) {
	words := strings.Fields(item)
	if len(words) == 0 {
		return Test{}, fmt.Errorf("empty test name: valid are %s", strings.Join(TestNames(), ", "))
	}
	t := Test{Name: words[0]}
	if _, ok := KindOf(t.Name); !ok {
		return Test{}, t.complete()
	}
	for _, w := range words[1:] {
		name, value, found := strings.Cut(w, "=")
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		if !found || i < 0 {
			return Test{}, fmt.Errorf("test %s: %q is no parameter: write NAME=BYTES with one of %s",
				t.Name, w, strings.Join(t.Kind().Accepts, ", "))
		}
		field := params[i].field(&t.Params)
		if *field != 0 {
			return Test{}, fmt.Errorf("test %s: %s is given twice", t.Name, name)
		}
		n, err := parseBytes(value, t.Kind().limit(name))
		if err != nil {
			return Test{}, fmt.Errorf("test %s: %s: %w", t.Name, name, err)
		}
		*field = n
	}
	return t, nil
}

// ParseSizes reads a comma-separated list of message sizes in bytes, each from
// 1 to MaxMessage ("1,64,1KiB"). A blank list is no size at all. Whether a
// test takes a size is for ParseTests to say.
func ParseSizes(list string) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var sizes []int
	for _, item := range strings.Split(list, ",") {
		n, err := parseBytes(item, MaxMessage)
		if err != nil {
			return nil, err
		}
		if slices.Contains(sizes, n) {
			return nil, fmt.Errorf("size %d is given twice", n)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func parseBytes(s string, limit int) (int, error) {
	n, err := unit.ParseSize(strings.TrimSpace(s))
	if err != nil {
		return 0, err
	}
	if n < 1 || n > int64(limit) {
		return 0, fmt.Errorf("size %d is out of range: 1 to %d bytes", n, limit)
	}
	return int(n), nil
}
