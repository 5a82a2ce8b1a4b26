package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestMarksCodec(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		marks := Marks(rapid.SliceOf(rapid.Custom(func(r *rapid.T) Mark {
			m := Mark{Leg: rapid.IntRange(0, 1).Draw(r, "leg"), Point: Point(rapid.IntRange(0, int(PointBack)).Draw(r, "point")),
				At: rapid.Int64Range(-1e15, 1e15).Draw(r, "at"), CPU: rapid.IntRange(-1, 4096).Draw(r, "cpu")}
			if rapid.Bool().Draw(r, "more") {
				m.Task, m.For = strings.ToValidUTF8(rapid.String().Draw(r, "task"), "?"), rapid.Int64Range(0, 1e12).Draw(r, "for")
			}
			return m
		})).Draw(r, "marks"))
		data, err := json.Marshal(marks)
		if err != nil {
			r.Fatal(err)
		}
		var got Marks
		if err := json.Unmarshal(data, &got); err != nil {
			r.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(marks, got, cmpopts.EquateEmpty()); diff != "" {
			r.Fatalf("%s: %s", data, diff)
		}
	})
	for _, bad := range []string{`{}`, `"x"`, `[1]`, `[1,2]`, `[1,2,3,4]`, `["a",2,3]`, `[1,2,3,"x"]`, `[1,2,3,"x",-]`, `[99,2,3]`, `[-1,2,3]`, `[1,2,3,]`, `[1,2.5,3]`, `[1,2,3,"x",1,"y",2]`, `[1,2,99999999999]`, `[[1,2,3]]`} {
		if err := json.Unmarshal([]byte(bad), new(Marks)); err == nil {
			t.Errorf("%s is taken for marks", bad)
		}
	}
}

// Whatever is read as marks is written as the same.
func FuzzMarks(f *testing.F) {
	for _, s := range []string{`[]`, `[1,337,0,2,452,0]`, `[22,100,1,"idle",0]`, ` [ 1 , 2 , 3 , "a\"b,c" , 4 ] `, `[1,2`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Marks
		if json.Unmarshal(data, &m) != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again Marks
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What an end has seen is in its record, and what can't have been seen is refused.
func TestSeenCodec(t *testing.T) {
	e := End{Role: Local, Seen: &Seen{By: SeenByBPF, OneClock: true, Every: 16, Lost: 2, Missing: []Fact{{"bpf", "why"}},
		Trips: []SeenTrip{{N: 16, At: 5, Length: 7000, Marks: Marks{{Leg: 1, Point: PointRun, At: 6000, CPU: 1, Task: "idle", For: 3}}}}}}
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
		"marks":  func(s *Seen) { s.Trips[0].Marks = make(Marks, maxMarks+1) },
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
