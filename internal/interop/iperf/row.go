package iperf

import (
	"regexp"
	"strings"

	"netdelta/internal/interop/scan"
)

var (
	rows = regexp.MustCompile(`\[ *(SUM|[0-9]+|\*[0-9]+) *\](?:\[((?:TX|RX)-[CS])\])?\s+([0-9.]+)- ?([0-9.]+)\s+sec\s+([0-9.]+) ([KMGT]?Bytes)\s+([-+0-9.naif]+) ([KMGT]?(?:bits|Bytes)/sec)(.*)$`)
	// datagram has jitter, and what was lost of how much.
	datagram = regexp.MustCompile(`([0-9.a-z+-]+) ms\s+([0-9-]+)\s*/\s*([0-9-]+)\s+\(`)
	retrans  = regexp.MustCompile(`^\s+([0-9]+)\s`)
	// writes are iperf2's of -e, behind which is what was sent again.
	writes = regexp.MustCompile(`^\s+[0-9]+/[0-9]+\s+([0-9]+)\s`)
)

// longest is the longest line that is taken for a row.
const longest = 500

// row is one line of figures.
type row struct {
	line int
	// id is the stream's, way "TX-C" and the like, where two directions are measured.
	id, way      string
	from, to     float64 // seconds
	fine         bool    // its seconds have two digits behind the point, as iperf3's
	number, unit string
	bits         float64 // below 0 for what can't be
	rest         string
	// sender and recver are what the row says of its end; report that the server of
	// iperf2 sent it.
	sender, recver, report bool
	omitted                bool
}

// rowOf is a line's row, if it is one.
func rowOf(l scan.Line) (row, bool) {
	if len(l.Text) > longest {
		return row{}, false
	}
	m := rows.FindStringSubmatch(l.Text)
	if m == nil {
		return row{}, false
	}
	x := row{line: l.No, id: m[1], way: m[2], number: m[7], unit: m[8], rest: m[9]}
	from, a := scan.Number(m[3])
	to, b := scan.Number(m[4])
	x.from, x.to = from, to
	_, digits, _ := strings.Cut(m[4], ".")
	x.fine = len(digits) == 2
	var ok bool
	if x.bits, ok = rateOf(x.number, x.unit); !ok || !a || !b || to < from {
		x.bits = -1
	}
	x.sender, x.recver = strings.Contains(x.rest, "sender"), strings.Contains(x.rest, "receiver")
	x.omitted = strings.Contains(x.rest, "(omitted)")
	return x, true
}

func (x *row) flagged() bool { return x.sender || x.recver }

// begins says that it is from the test's beginning on.
func (x *row) begins() bool { return x.from <= 0.01 }

// lost says that all datagrams were lost, so that a rate of 0 is one.
func (x *row) lost() bool {
	m := datagram.FindStringSubmatch(x.rest)
	return m != nil && m[2] == m[3] && strings.Trim(m[2], "0") != ""
}
