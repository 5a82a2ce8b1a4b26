package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMarkCodec(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := Mark{Leg: rapid.IntRange(0, 1).Draw(r, "leg"), Point: Point(rapid.IntRange(0, int(PointBack)).Draw(r, "point")),
			At: rapid.Int64().Draw(r, "at"), CPU: rapid.IntRange(-1, 4096).Draw(r, "cpu"), Task: rapid.String().Draw(r, "task"), For: rapid.Int64Range(0, 1e12).Draw(r, "for")}
		data, err := json.Marshal(m)
		if err != nil {
			r.Fatal(err)
		}
		var got Mark
		if err := json.Unmarshal(data, &got); err != nil {
			r.Fatal(err)
		}
		if m.Task = strings.ToValidUTF8(m.Task, "\ufffd"); got != m {
			r.Fatalf("%s is read as %+v, want %+v", data, got, m)
		}
	})
	for _, bad := range []string{`[]`, `[1,2,3]`, `{}`, `[1,2,3,4,5]`, `["a",2,3,4]`, `[1,2,3,4,"x",-1,7]`} {
		if err := json.Unmarshal([]byte(bad), new(Mark)); err == nil {
			t.Errorf("%s is taken for a mark", bad)
		}
	}
}

// What an end has seen is in its record, and what can't have been seen is refused.
func TestSeenCodec(t *testing.T) {
	e := End{Role: Local, Seen: &Seen{By: SeenByBPF, OneClock: true, Every: 16, Lost: 2, Missing: []Fact{{"bpf", "why"}},
		Trips: []SeenTrip{{N: 16, At: 5, Length: 7000, Marks: []Mark{{Leg: 1, Point: PointRun, At: 6000, CPU: 1, Task: "idle", For: 3}}}}}}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got End
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.Seen, got.Seen); diff != "" {
		t.Error(diff)
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Seen){
		"by":     func(s *Seen) { s.By = "guess" },
		"every":  func(s *Seen) { s.Every = 0 },
		"lost":   func(s *Seen) { s.Lost = -1 },
		"trips":  func(s *Seen) { s.Trips = make([]SeenTrip, MaxSeen+1) },
		"number": func(s *Seen) { s.Trips[0].N = 0 },
		"length": func(s *Seen) { s.Trips[0].Length = -1 },
		"marks":  func(s *Seen) { s.Trips[0].Marks = make([]Mark, maxMarks+1) },
		"leg":    func(s *Seen) { s.Trips[0].Marks[0].Leg = 2 },
		"point":  func(s *Seen) { s.Trips[0].Marks[0].Point = PointBack + 1 },
		"cpu":    func(s *Seen) { s.Trips[0].Marks[0].CPU = -2 },
	} {
		var bad End
		if err := json.Unmarshal(data, &bad); err != nil {
			t.Fatal(err)
		}
		spoil(bad.Seen)
		if err := bad.Validate(); err == nil {
			t.Errorf("%s: taken for something that was seen", name)
		}
	}
}

func TestUnwatched(t *testing.T) {
	a, b := Trial{}, Trial{}
	b.Test.Params.Explain = "auto"
	plain, watched := Unwatched([]Trial{a, b, a})
	if len(plain) != 2 || len(watched) != 1 || !watched[0].Test.Watched() {
		t.Errorf("%d and %d", len(plain), len(watched))
	}
	if plain, watched := Unwatched([]Trial{a}); len(plain) != 1 || watched != nil {
		t.Error(plain, watched)
	}
}
