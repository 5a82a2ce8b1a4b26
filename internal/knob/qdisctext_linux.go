package knob

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// qdiscOption is a number that a queueing discipline takes.
type qdiscOption struct {
	name string
	attr uint16 // of the kind's attributes in linux/pkt_sched.h
	// codel says that it is a time in us that the kernel keeps in units of 1024 ns.
	codel bool
}

// qdiscKind is a queueing discipline that can be set and put back exactly.
type qdiscKind struct {
	name    string
	options []qdiscOption
	// fifo says that the options are struct tc_fifo_qopt, a limit alone.
	fifo bool
	// parent says that it has a discipline for each queue below it, which the kernel
	// chooses.
	parent bool
}

var fifoOptions = []qdiscOption{{name: "limit"}}

var qdiscKinds = []qdiscKind{
	{name: "pfifo", options: fifoOptions, fifo: true},
	{name: "bfifo", options: fifoOptions, fifo: true},
	{name: "pfifo_head_drop", options: fifoOptions, fifo: true},
	{name: "pfifo_fast"},
	{name: "noqueue"},
	{name: "mq", parent: true},
	{name: "fq", options: []qdiscOption{{"limit", 1, false}, {"flow_limit", 2, false}, {"quantum", 3, false}, {"initial_quantum", 4, false}}},
	{name: "fq_codel", options: []qdiscOption{{"target", 1, true}, {"limit", 2, false}, {"interval", 3, true}, {"ecn", 4, false},
		{"flows", 5, false}, {"quantum", 6, false}, {"ce_threshold", 7, true}, {"drop_batch", 8, false}, {"memory_limit", 9, false}}},
	{name: "codel", options: []qdiscOption{{"target", 1, true}, {"limit", 2, false}, {"interval", 3, true}, {"ecn", 4, false}, {"ce_threshold", 5, true}}},
}

// qdiscDefault is the value of whatever the kernel itself chooses.
const qdiscDefault = "default"

func qdiscKindOf(name string) (qdiscKind, error) {
	names := []string{qdiscDefault}
	for _, k := range qdiscKinds {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return qdiscKind{}, fmt.Errorf("qdisc %q cannot be set here: %s can", name, strings.Join(names, ", "))
}

// qdisc is the root of an interface, or what it is to be.
type qdisc struct {
	kind string
	// numbers are the options that are known by name, raw all of them as the kernel
	// tells them.
	numbers map[string]uint32
	raw     []byte
	// handle is 0 of what the kernel has chosen itself.
	handle uint32
	below  []string // kinds
	// lasting says why it cannot be put back exactly; empty if it can.
	lasting string
}

// parseQdisc reads what a user asks for: "fq", "fq limit 1000".
func parseQdisc(text string) (qdisc, qdiscKind, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return qdisc{}, qdiscKind{}, errors.New("which qdisc is missing")
	}
	k, err := qdiscKindOf(words[0])
	if err != nil {
		return qdisc{}, k, err
	}
	q := qdisc{kind: k.name, numbers: map[string]uint32{}}
	if len(words)%2 == 0 {
		return q, k, fmt.Errorf("%q: options are pairs of a name and a number, such as limit 1000", text)
	}
	for pair := range slices.Chunk(words[1:], 2) {
		if !slices.ContainsFunc(k.options, func(o qdiscOption) bool { return o.name == pair[0] }) {
			var names []string
			for _, o := range k.options {
				names = append(names, o.name)
			}
			return q, k, fmt.Errorf("qdisc %s has no option %q here: it has %s", k.name, pair[0], cmp.Or(strings.Join(names, ", "), "none"))
		}
		n, err := strconv.ParseUint(pair[1], 10, 32)
		if err != nil {
			return q, k, fmt.Errorf("qdisc %s: %s %q is no whole number from 0 to %d", k.name, pair[0], pair[1], uint32(1<<32-1))
		}
		if _, twice := q.numbers[pair[0]]; twice {
			return q, k, fmt.Errorf("qdisc %s: %s is named twice", k.name, pair[0])
		}
		q.numbers[pair[0]] = uint32(n)
	}
	return q, k, nil
}

// text is the qdisc with all that is needed to put it back:
// "fq limit 1000 handle 8001: raw 08000100...", or "pfifo_fast default".
func (q qdisc) text() string {
	if q.handle == 0 {
		return q.kind + " " + qdiscDefault
	}
	words := []string{q.kind}
	k, err := qdiscKindOf(q.kind)
	for _, o := range k.options {
		if n, ok := q.numbers[o.name]; ok {
			words = append(words, o.name, strconv.FormatUint(uint64(n), 10))
		}
	}
	words = append(words, "handle", strconv.FormatUint(uint64(q.handle>>16), 16)+":")
	if len(q.raw) > 0 && err == nil && len(k.options) > 0 && !k.fifo {
		words = append(words, "raw", hex.EncodeToString(q.raw))
	}
	if len(q.below) > 0 {
		words = append(words, "below", strings.Join(q.below, ","))
	}
	if q.lasting != "" {
		words = append(words, "lasting", strings.ReplaceAll(q.lasting, " ", "-"))
	}
	return strings.Join(words, " ")
}

// parseQdiscWas reads what text wrote.
func parseQdiscWas(text string) (qdisc, error) {
	words := strings.Fields(text)
	if len(words) == 2 && words[1] == qdiscDefault {
		return qdisc{kind: words[0]}, nil
	}
	if len(words)%2 == 0 || len(words) == 0 {
		return qdisc{}, fmt.Errorf("%q is no qdisc that was read", text)
	}
	q := qdisc{kind: words[0], numbers: map[string]uint32{}}
	for pair := range slices.Chunk(words[1:], 2) {
		var err error
		switch name, value := pair[0], pair[1]; name {
		case "handle":
			var major uint64
			if major, err = strconv.ParseUint(strings.TrimSuffix(value, ":"), 16, 16); err == nil && major == 0 {
				err = errors.New("handle 0 is none")
			}
			q.handle = uint32(major) << 16
		case "raw":
			q.raw, err = hex.DecodeString(value)
		case "below":
			q.below = strings.Split(value, ",")
		case "lasting":
			q.lasting = strings.ReplaceAll(value, "-", " ")
		default:
			var n uint64
			n, err = strconv.ParseUint(value, 10, 32)
			q.numbers[name] = uint32(n)
		}
		if err != nil {
			return q, fmt.Errorf("%q is no qdisc that was read: %s: %w", text, pair[0], err)
		}
	}
	if q.handle == 0 {
		return q, fmt.Errorf("%q is no qdisc that was read: it has no handle", text)
	}
	return q, nil
}

// equalQdisc says whether what was read is what was asked for, or what was read
// before. What the kernel chooses is its own affair.
func equalQdisc(read, asked string) bool {
	if read == asked {
		return true
	}
	is, err := parseQdiscWas(read)
	if err != nil {
		return false
	}
	if asked == qdiscDefault || strings.HasSuffix(asked, " "+qdiscDefault) {
		return is.handle == 0
	}
	want, k, err := parseQdisc(asked)
	if err != nil || is.kind != want.kind {
		return false
	}
	if is.handle == 0 && len(want.numbers) > 0 {
		return false // its options are not told
	}
	for _, o := range k.options {
		n, meant := want.numbers[o.name]
		if o.codel {
			n = codelTime(n)
		}
		if is, told := is.numbers[o.name]; meant && (!told || is != n) {
			return false
		}
	}
	return true
}

// codelTime is the time in us that the kernel tells after one was set
// (codel_time_to_us in net/codel.h).
func codelTime(us uint32) uint32 { return uint32(uint64(us) * 1000 >> 10 << 10 / 1000) }
