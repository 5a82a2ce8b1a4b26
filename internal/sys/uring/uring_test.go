package uring

import "testing"

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{
		{}, {Entries: -1}, {Entries: MaxEntries + 1}, {Entries: 8, Completions: 7},
		{Entries: 8, Completions: -1}, {Entries: 8, Completions: 2*MaxEntries + 1},
	} {
		if r, err := New(o); err == nil {
			t.Errorf("%+v makes a ring", o)
			r.Close()
		}
	}
}
