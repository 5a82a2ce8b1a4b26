package hist

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func recorded(samples ...int64) *Hist {
	h := New()
	for _, s := range samples {
		h.Record(s)
	}
	return h
}

func TestCodecRoundTrip(t *testing.T) {
	type record struct {
		RTT *Hist `json:"rtt,omitempty"`
	}
	check := func(t interface{ Fatalf(string, ...any) }, h *Hist) {
		text, err := json.Marshal(record{h})
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		// What was there before must go.
		back := record{recorded(3, 70000, math.MaxInt64)}
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("decode %s: %v", text, err)
		}
		if diff := cmp.Diff(record{h}, back); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	}
	full := New()
	for i := range bucketCount {
		full.Record(bucketAt(i).High)
	}
	for _, h := range []*Hist{New(), recorded(1), recorded(0), recorded(math.MaxInt64), recorded(0, math.MaxInt64), full} {
		check(t, h)
	}
	rapid.Check(t, func(t *rapid.T) {
		h := New()
		for range rapid.IntRange(0, 100).Draw(t, "n") {
			h.Record(rapid.Int64().Draw(t, "bits") >> rapid.IntRange(0, 63).Draw(t, "shift"))
		}
		check(t, h)
	})
}

// The form of version 1 is fixed: trials are kept in files.
func TestCodecForm(t *testing.T) {
	got, err := json.Marshal(recorded(5, 5, 300))
	if err != nil {
		t.Fatal(err)
	}
	// 1; two buckets: 5 (index 5) twice, 300 (index 128+150) once; min, max, sum.
	raw := []byte{1, 2, 5, 2, 0x91, 0x02, 1, 5, 0xac, 0x02, 0, 0xb6, 0x02}
	if want := `"` + base64.RawStdEncoding.EncodeToString(raw) + `"`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, err := json.Marshal((*Hist)(nil)); err != nil || string(got) != "null" {
		t.Errorf("a nil Hist is %s, %v", got, err)
	}
}

// numbers is a binary form of version 1 with those numbers.
func numbers(values ...uint64) []byte {
	raw := []byte{1}
	for _, v := range values {
		raw = binary.AppendUvarint(raw, v)
	}
	return raw
}

func TestDecodeRefuses(t *testing.T) {
	const huge = math.MaxUint64
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":             {nil, "empty"},
		"version 0":           {[]byte{0, 0}, "version 0"},
		"version 2":           {[]byte{2, 0}, "version 2"},
		"no number":           {numbers(), "cut off"},
		"more after nothing":  {numbers(0, 0), "1 bytes follow"},
		"too many buckets":    {numbers(bucketCount + 1), "out of range"},
		"endless number":      {append([]byte{1}, strings.Repeat("\xff", 11)...), "64 bits"},
		"padded number":       {[]byte{1, 0x80, 0}, "more bytes"},
		"cut in bucket":       {numbers(1, 5), "cut off at a count"},
		"cut before sum":      {numbers(1, 5, 2, 5, 5), "cut off at a sum"},
		"more after the end":  {append(numbers(1, 5, 1, 5, 5, 0, 5), 0), "1 bytes follow"},
		"count 0":             {numbers(1, 5, 0, 5, 5, 0, 0), "count 0"},
		"count too large":     {numbers(1, 5, maxSamples+1, 5, 5, 0, 0), "count"},
		"counts too large":    {numbers(2, 5, maxSamples-1, 1, 2, 5, 6, 0, 0), "count 2"},
		"counts overflow":     {numbers(2, 5, 2, 1, huge-1, 5, 6, 0, 0), "count"},
		"index too large":     {numbers(1, bucketCount, 1, 5, 5, 0, 5), "bucket"},
		"index overflows":     {numbers(2, 5, 1, huge, 1, 5, 5, 0, 5), "bucket"},
		"index twice":         {numbers(2, 5, 1, 0, 1, 5, 5, 0, 10), "bucket 0"},
		"after the last":      {numbers(2, overBucket, 1, 1, 1, MaxValue+1, MaxValue+1, 0, 1), "bucket 1"},
		"min below bucket":    {numbers(1, 5, 1, 4, 5, 0, 5), "minimum 4"},
		"min above bucket":    {numbers(1, 5, 1, 6, 6, 0, 6), "minimum 6"},
		"max below bucket":    {numbers(2, 5, 1, 1, 1, 5, 5, 0, 10), "maximum 5"},
		"max above bucket":    {numbers(1, 5, 1, 5, 6, 0, 5), "maximum 6"},
		"max below min":       {numbers(1, 278, 2, 301, 300, 0, 601), "maximum 300"},
		"max not an int64":    {numbers(1, overBucket, 1, MaxValue+1, 1<<63, 0, 1), "maximum"},
		"one sample, two":     {numbers(1, 278, 1, 300, 301, 0, 300), "one sample"},
		"under is not 1":      {numbers(1, 0, 1, 0, 0, 0, 0), "minimum 0"},
		"sum too small":       {numbers(1, 5, 2, 5, 5, 0, 9), "sum"},
		"sum too large":       {numbers(1, 5, 2, 5, 5, 0, 11), "sum"},
		"sum off by min, max": {numbers(1, 278, 2, 300, 301, 0, 600), "sum"},
		"sum above max":       {numbers(1, uint64(bucketOf(70000)), 3, 70000, 70000, 0, 210001), "sum"},
		"sum below min":       {numbers(1, uint64(bucketOf(70000)), 3, 70000, 70000, 0, 209999), "sum"},
		"sum of 128 bits":     {numbers(1, 5, 2, 5, 5, 1, 10), "sum"},
	} {
		h, err := decode(c.raw)
		if err == nil {
			t.Errorf("%s: read as %d samples", name, h.Count())
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q lacks %q", name, err, c.want)
		}
	}
}

func TestUnmarshalJSONRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {``, "a string is needed"},
		"number":        {`1`, "a string is needed"},
		"object":        {`{}`, "a string is needed"},
		"empty":         {`""`, "empty"},
		"no base64":     {`"*"`, "illegal base64"},
		"padded":        {`"AQA="`, "illegal base64"},
		"line end":      {`"AQ\nA"`, "plain form"},
		"unused bits":   {`"AQB"`, "plain form"},
		"version":       {`"AgA"`, "version 2"},
		"much too long": {`"` + strings.Repeat("A", 100000) + `"`, "more than any histogram"},
	} {
		h := recorded(1, 2, 3)
		err := h.UnmarshalJSON([]byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), "latency histogram: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
		if !h.Equal(recorded(1, 2, 3)) {
			t.Errorf("%s: the histogram changed", name)
		}
	}
	h := recorded(1, 2, 3)
	if err := h.UnmarshalJSON([]byte("null")); err != nil || !h.Equal(recorded(1, 2, 3)) {
		t.Errorf("null: %v", err)
	}
}

func TestMarshalJSONRefusesTooMany(t *testing.T) {
	h := recorded(1)
	for h.n <= maxSamples {
		h.Merge(h)
	}
	if text, err := h.MarshalJSON(); err == nil {
		t.Errorf("%d samples are written as %s", h.n, text)
	}
}
