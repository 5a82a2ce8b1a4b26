package hist

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
)

// checkRead holds a histogram from outside to what one that recorded fulfils.
func checkRead(t *testing.T, h *Hist) {
	var total int64
	for _, c := range h.Buckets() {
		total += c
	}
	if h.Count() < 0 || total != h.Count() {
		t.Fatalf("buckets hold %d of %d samples", total, h.Count())
	}
	if h.Count() == 0 {
		return
	}
	low, high := float64(h.Min()), float64(h.Max())
	if low < 1 || low > high {
		t.Fatalf("min %v, max %v", low, high)
	}
	if mean := h.Mean(); mean < low*(1-1e-12) || mean > high*(1+1e-12) {
		t.Fatalf("mean %v is outside %v to %v", mean, low, high)
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.99, 1} {
		if v := h.Quantile(q); !(v >= low && v <= high) {
			t.Fatalf("quantile %v is %v, outside %v to %v", q, v, low, high)
		}
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, h := range []*Hist{New(), recorded(0, 5, 5, 300, 21000, 33000), recorded(MaxValue, math.MaxInt64)} {
		text, err := json.Marshal(h)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`"AQB"`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := New()
		if err := h.UnmarshalJSON(text); err != nil {
			if !h.Equal(New()) {
				t.Fatal("the histogram changed")
			}
			return
		}
		checkRead(t, h)
		again, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		back := New()
		if err := json.Unmarshal(again, back); err != nil || !back.Equal(h) {
			t.Fatalf("%q was read, written as %q and not read back: %v", text, again, err)
		}
	})
}

// What decode accepts is the only form of it.
func FuzzDecode(f *testing.F) {
	f.Add(New().appendTo(nil))
	f.Add(recorded(0, 5, 5, 300, 21000, 33000).appendTo(nil))
	f.Add(recorded(MaxValue, math.MaxInt64).appendTo(nil))
	f.Add(numbers(1, 5, maxSamples, 5, 5, 0, 5*maxSamples))
	f.Add(numbers(1, 278, 3, 300, 301, 0, 901))
	f.Add([]byte{1, 0x80, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := decode(raw)
		if err != nil {
			return
		}
		checkRead(t, h)
		if again := h.appendTo(nil); !bytes.Equal(again, raw) {
			t.Fatalf("%x was read and is written %x", raw, again)
		}
	})
}
