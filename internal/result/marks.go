package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Marks are those of one round trip. There are a hundred thousand and more in a run, so
// they are written as one flat list of numbers: of each mark its leg and point
// (16 leg + point), ns since the mark before, and CPU; and where it has one, its task as
// a text and for how long that ran.
type Marks []Mark

// legBase is what a leg counts in a mark's first number.
const legBase = 16

// MarshalJSON writes the list.
func (all Marks) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 16+16*len(all)), '[')
	at := int64(0)
	for i, m := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(m.Leg*legBase+int(m.Point)), 10)
		b = strconv.AppendInt(append(b, ','), m.At-at, 10)
		b = strconv.AppendInt(append(b, ','), int64(m.CPU), 10)
		at = m.At
		if m.Task == "" && m.For == 0 {
			continue
		}
		name, err := json.Marshal(m.Task)
		if err != nil {
			return nil, err
		}
		b = append(append(b, ','), name...)
		b = strconv.AppendInt(append(b, ','), m.For, 10)
	}
	return append(b, ']'), nil
}

var errMarks = errors.New("marks are a list of three numbers each, with a text and a number behind some")

// UnmarshalJSON reads what MarshalJSON wrote.
func (all *Marks) UnmarshalJSON(data []byte) error {
	*all = nil
	r := markReader{rest: bytes.TrimSpace(data)}
	if bytes.Equal(r.rest, []byte("null")) {
		return nil
	}
	if len(r.rest) < 2 || r.rest[0] != '[' || r.rest[len(r.rest)-1] != ']' {
		return errMarks
	}
	r.rest = bytes.TrimSpace(r.rest[1 : len(r.rest)-1])
	at := int64(0)
	for len(r.rest) > 0 {
		code, step, cpu := r.number(), r.number(), r.number()
		if r.err != nil || code < 0 || code >= Legs*legBase || cpu < math.MinInt32 || cpu > math.MaxInt32 {
			return fmt.Errorf("mark %d: %w", len(*all)+1, errMarks)
		}
		at += step
		m := Mark{Leg: int(code / legBase), Point: Point(code % legBase), At: at, CPU: int(cpu)}
		if len(r.rest) > 0 && r.rest[0] == '"' {
			m.Task, m.For = r.text(), r.number()
		}
		if r.err != nil {
			return fmt.Errorf("mark %d: %w", len(*all)+1, errMarks)
		}
		*all = append(*all, m)
	}
	return nil
}

// markReader takes one thing after another from a list.
type markReader struct {
	rest []byte
	err  error
}

// word is all up to the next comma, which goes too.
func (r *markReader) word(end int) []byte {
	word := r.rest[:end]
	if r.rest = bytes.TrimSpace(r.rest[end:]); len(r.rest) > 0 {
		if r.rest[0] != ',' {
			r.err = errMarks
			return word
		}
		if r.rest = bytes.TrimSpace(r.rest[1:]); len(r.rest) == 0 {
			r.err = errMarks // nothing behind a comma
		}
	}
	return bytes.TrimSpace(word)
}

func (r *markReader) number() int64 {
	end := bytes.IndexByte(r.rest, ',')
	if end < 0 {
		end = len(r.rest)
	}
	n, err := strconv.ParseInt(string(r.word(end)), 10, 64)
	if err != nil {
		r.err = err
	}
	return n
}

func (r *markReader) text() (s string) {
	end := 1
	for end < len(r.rest) && r.rest[end] != '"' {
		if r.rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.rest) {
		r.err = errMarks
		return ""
	}
	if err := json.Unmarshal(r.word(end+1), &s); err != nil {
		r.err = err
	}
	return s
}
