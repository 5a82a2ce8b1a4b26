package result

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

// names are the metrics that a trial has, and those that it lacks for one
// reason.
func names(t *testing.T, x *Trial, code string) (there, missing []string) {
	t.Helper()
	metrics, warnings := x.Derive()
	checkDerived(t, metrics, warnings)
	for _, m := range metrics {
		there = append(there, m.Name)
	}
	for _, w := range warnings {
		if w.Code == code {
			missing = append(missing, w.Metric)
		}
	}
	slices.Sort(there)
	slices.Sort(missing)
	return there, missing
}

// A window that was less than half of the planned one gives no figure of what
// was counted in it.
func TestBrokenWindows(t *testing.T) {
	const window = 50 * time.Millisecond
	stream := func(local, remote time.Duration) Trial {
		return Trial{Test: mustTest(t, "udp_stream"), Window: window,
			Local: End{Role: Local, Elapsed: local, Messages: 100, Bytes: 100, Counts: map[string]int64{"sent": 100}},
			Remote: &End{Role: Remote, Elapsed: remote, Messages: 90, Bytes: 90,
				Counts: map[string]int64{"unique": 90, "duplicates": 0, "reordered": 0, "total": 90}}}
	}
	const senders, receivers = "duplicates loss offered reordered", "goodput packets"
	const all = "duplicates goodput loss offered packets reordered"
	for _, c := range []struct {
		name           string
		trial          Trial
		there, missing string
	}{
		{"full", stream(window, window), all, ""},
		{"half", stream(window, window/2), all, ""},
		{"the receiver's below half", stream(window, window/2-1), senders, receivers},
		{"the sender's below half", stream(window/2-1, window), receivers, senders},
		{"both", stream(time.Millisecond, time.Millisecond), "", all},
	} {
		there, missing := names(t, &c.trial, shortWindow)
		if got := strings.Join(there, " "); got != c.there {
			t.Errorf("%s: it has %q, want %q", c.name, got, c.there)
		}
		if got := strings.Join(missing, " "); got != c.missing {
			t.Errorf("%s: it lacks %q for its window, want %q", c.name, got, c.missing)
		}
		// Nobody planned an imported trial's window.
		c.trial.Window = 0
		if there, _ := names(t, &c.trial, shortWindow); strings.Join(there, " ") != all {
			t.Errorf("%s, not planned: it has %v", c.name, there)
		}
	}

	rr := Trial{Test: mustTest(t, "udp_rr"), Window: window,
		Local:  End{Role: Local, Elapsed: window, Messages: 1000, RTT: rtts(1000), Counts: map[string]int64{"sent": 1000, "lost": 0}},
		Remote: &End{Role: Remote, Elapsed: time.Millisecond}}
	if _, missing := names(t, &rr, shortWindow); len(missing) != 0 {
		t.Errorf("%v are missing for the window of the end that only answers", missing)
	}
	rr.Local.Elapsed = window / 3
	if there, missing := names(t, &rr, shortWindow); len(there) != 0 || len(missing) != len(Present(Definitions(rr.Test), nobody)) {
		t.Errorf("round trips of a third of a window: it has %v and lacks %v", there, missing)
	}
}

// nobody tells of anything.
func nobody(Taken) bool { return false }

// Datagrams too short for a number are counted by their mark, and nothing is
// said of duplicates and reordering.
func TestMetricsOfUnnumberedDatagrams(t *testing.T) {
	test, err := spec.NewTest("udp_stream", spec.Params{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := Trial{Test: test,
		Local:  End{Role: Local, Elapsed: time.Second, Messages: 1000, Bytes: 1000, Counts: map[string]int64{"sent": 1000}},
		Remote: &End{Role: Remote, Elapsed: time.Second, Messages: 750, Bytes: 750, Counts: map[string]int64{"total": 750}}}
	for _, m := range x.Metrics() {
		if m.Name == Loss && m.Value != 0.25 {
			t.Errorf("loss %v, want 0.25", m.Value)
		}
	}
	there, missing := names(t, &x, "number-too-short")
	if !slices.Contains(there, Loss) || !slices.Equal(missing, []string{Duplicates, Reordered}) {
		t.Errorf("it has %v and lacks %v", there, missing)
	}
	x.Remote.Counts["total"] = 1001
	if _, missing := names(t, &x, "counts-disagree"); !slices.Equal(missing, []string{Loss}) {
		t.Errorf("more came than was sent: it lacks %v", missing)
	}
}
