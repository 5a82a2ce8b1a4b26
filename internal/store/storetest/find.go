package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/store"
)

// beginAs makes a run with a given id.
func beginAs(t *testing.T, s store.Store, id, label string, minutes int) {
	t.Helper()
	run := NewRun(label, minutes)
	run.ID = id
	must(t, s.Begin(t.Context(), run))
}

func find(t *testing.T, s store.Store) {
	_, err := s.Find(t.Context(), "old")
	wantErr(t, err, store.ErrNotFound)
	beginAs(t, s, "7f30000000", "old", 0)
	beginAs(t, s, "7f30000001", "new", 1)
	beginAs(t, s, "7f41000000", "old", 2)
	beginAs(t, s, "zzzzzzzzzz", "newer one", 3)
	beginAs(t, s, "0110000000", "", 4)
	for _, c := range []struct {
		ref  string
		want string // ids, or what the error has in it
		err  error
	}{
		{"7f30000000", "7f30000000", nil},
		{"7F30000000", "7f30000000", nil}, // as people type
		{"7f3ooo000l", "7f30000001", nil},
		{"OIL", "0110000000", nil},
		{"old", "7f41000000 7f30000000", nil}, // newest first
		{"new", "7f30000001", nil},
		{"newer one", "zzzzzzzzzz", nil},
		{"z", "zzzzzzzzzz", nil},
		{"zzzzzzzzz", "zzzzzzzzzz", nil},
		{"7f4", "7f41000000", nil},
		{"7f3", `"7f3": 7f30000001, 7f30000000: give more`, store.ErrAmbiguous},
		{"7", `"7": 7f41000000, 7f30000001, 7f30000000`, store.ErrAmbiguous},
		{"7f31", `"7f31"`, store.ErrNotFound},
		{"7f30000002", `"7f30000002"`, store.ErrNotFound},
		{"odl", `near to it are "old"`, store.ErrNotFound},
		{"newr", `near to it are "new"`, store.ErrNotFound},
		{"Old", `near to it are "old"`, store.ErrNotFound},
		{"one", `near to it are "newer one"`, store.ErrNotFound},
		{"entirely different", "netdelta runs lists", store.ErrNotFound},
		{"", "netdelta runs lists", store.ErrNotFound},
		{"%", "netdelta runs lists", store.ErrNotFound},
		{"7f*", "7f*", store.ErrNotFound},
		{"old' OR '1'='1", "old' OR '1'='1", store.ErrNotFound},
	} {
		runs, err := s.Find(t.Context(), c.ref)
		if c.err != nil {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) || len(runs) > 0 {
				t.Errorf("Find(%q) is %v, %v; want %v with %q", c.ref, ids(runs), err, c.err, c.want)
			}
			continue
		}
		if got := ids(runs); err != nil || got != c.want {
			t.Errorf("Find(%q) is %s, %v; want %s", c.ref, got, err, c.want)
		}
	}
	latest, err := store.Latest(t.Context(), s, "old")
	if err != nil || latest.ID != "7f41000000" {
		t.Errorf("the latest old is %s, %v", latest.ID, err)
	}
	_, err = store.Latest(t.Context(), s, "odl")
	wantErr(t, err, store.ErrNotFound)
}

func findOrder(t *testing.T, s store.Store) {
	beginAs(t, s, "abcd000000", "abce", 0)
	beginAs(t, s, "abce000000", "abcd000000", 1)
	for ref, want := range map[string]string{
		"abcd000000": "abcd000000", // an id, and the other run's label
		"abce":       "abcd000000", // a label, and the beginning of an id
		"abcd":       "abcd000000",
	} {
		if runs, err := s.Find(t.Context(), ref); err != nil || ids(runs) != want {
			t.Errorf("Find(%q) is %s, %v; want %s", ref, ids(runs), err, want)
		}
	}
}

func list(t *testing.T, s store.Store) {
	var begun []string // newest first
	for i := range 10 {
		run := Begin(t, s, []string{"even", "odd"}[i%2], i/2*2) // two at a time
		begun = append([]string{run.ID}, begun...)
	}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	pick := func(places ...int) string {
		var picked []string
		for _, p := range places {
			picked = append(picked, begun[p])
		}
		return strings.Join(picked, " ")
	}
	for _, c := range []struct {
		filter store.Filter
		want   string
	}{
		{store.Filter{}, strings.Join(begun, " ")},
		{store.Filter{Limit: 3}, pick(0, 1, 2)},
		{store.Filter{Limit: 99}, strings.Join(begun, " ")},
		{store.Filter{Label: "even"}, pick(1, 3, 5, 7, 9)},
		{store.Filter{Label: "even", Limit: 2}, pick(1, 3)},
		{store.Filter{Label: "eve"}, ""},
		{store.Filter{Since: at(8)}, pick(0, 1)},
		{store.Filter{Since: at(8).Add(1)}, ""},
		{store.Filter{Since: time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)}, strings.Join(begun, " ")},
		{store.Filter{Since: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)}, ""},
		{store.Filter{Since: at(6).In(time.FixedZone("", 3600)), Label: "odd"}, pick(0, 2)},
	} {
		runs, err := s.Runs(t.Context(), c.filter)
		if got := ids(runs); err != nil || got != c.want {
			t.Errorf("Runs(%+v) is %s, %v; want %s", c.filter, got, err, c.want)
		}
	}
}

func tally(t *testing.T, s store.Store) {
	run := Begin(t, s, "old", 0)
	other := Begin(t, s, "other", 0)
	groups, err := s.Tally(t.Context(), run.ID)
	if err != nil || len(groups) > 0 {
		t.Fatalf("the tally of an empty run is %v, %v", groups, err)
	}
	trials := NewTrials(0, 11)
	slices.Reverse(trials)
	for _, x := range trials {
		must(t, s.Append(t.Context(), run.ID, x))
	}
	must(t, s.Append(t.Context(), run.ID, trials...))
	must(t, s.Append(t.Context(), other.ID, trials[3]))
	want := []store.Group{
		{Test: test("udp_rr"), Variant: spec.Variant{"rx": "kthread", "gro": "on"}, Trials: 6},
		{Test: test("tcp_stream"), Variant: spec.Variant{"rx": "softirq", "gro": "on"}, Trials: 6},
		{Test: test("udp_rr"), Variant: spec.Variant{"rx": "softirq", "gro": "on"}, Trials: 6},
		{Test: test("tcp_stream"), Variant: spec.Variant{"rx": "kthread", "gro": "on"}, Trials: 4},
	}
	groups, err = s.Tally(t.Context(), run.ID)
	must(t, err)
	if d := cmp.Diff(want, groups); d != "" {
		t.Errorf("the tally differs (-want +got):\n%s", d)
	}
}

func ids(runs []result.Run) string {
	var all []string
	for _, r := range runs {
		all = append(all, r.ID)
	}
	return strings.TrimSuffix(fmt.Sprintln(strings.Join(all, " ")), "\n")
}
