package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

func unclassifiedIn(warnings []result.Warning) bool {
	return slices.ContainsFunc(warnings, func(w result.Warning) bool { return w.Code == "unclassified" })
}

// TestRunClassified has workers receive in groups of their own: every packet of UDP is
// its worker's, and nearly every one of TCP.
func TestRunClassified(t *testing.T) {
	labtest.Need(t, feature.SocketGroup)
	labtest.NoLeaks(t)
	p, o := crossed(t, netlab.Ether, "udp_rr,tcp_rr,udp_stream size=1KiB,tcp_stream", oneKnob("rx", "context", "inline", "softirq"))
	o.Classify = true
	trials, err := carryOut(t, p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range trials {
		if i := slices.IndexFunc(x.Warnings, func(w result.Warning) bool { return w.Code == "unclassified" }); i >= 0 {
			labtest.Skip(t, errors.New(x.Warnings[i].Text))
		}
		for _, host := range []string{"a", "b"} {
			all, known := x.Path.Counts[host+".classified_all"]
			missed := all - x.Path.Counts[host+".classified_cgroup"]
			sends := host == "a" && x.Test.Name == "udp_stream" // and has no answers
			allowed := int64(0)
			if x.Test.Kind().Protocol == spec.TCP {
				allowed = all/100 + 1
			}
			if !known || (all == 0) != sends || missed < 0 || missed > allowed {
				t.Errorf("%s, %s: host %s counted %d packets, %d of them not its worker's", x.Test, x.Variant, host, all, missed)
			}
		}
	}
	// Without being asked for, nothing is made.
	o.Classify = false
	p.Tests = p.Tests[:1]
	if trials, err = carryOut(t, p, o); err != nil {
		t.Fatal(err)
	}
	if _, known := trials[0].Path.Counts["b.classified_all"]; known || unclassifiedIn(trials[0].Warnings) {
		t.Errorf("not asked for: %v, %v", trials[0].Path.Counts, trials[0].Warnings)
	}
}

// TestUnclassifiedIsToldOfEveryTrial has what a lab lacks on each of its paths.
func TestUnclassifiedIsToldOfEveryTrial(t *testing.T) {
	if w := unclassified(nil); w != nil {
		t.Errorf("nothing is missing, and %v is said", w)
	}
	p, o := crossed(t, netlab.Veth, "udp_rr", oneKnob("rx", "context", "backlog", "napi"))
	pair, err := netlab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pair.Close(); err != nil {
			t.Error(err)
		}
	})
	none := places{sys.NoCPU, sys.NoCPU, sys.NoCPU, sys.NoCPU}
	s := setup{pair, p, o, none, unclassified(errors.New("no groups here"))}
	for _, v := range p.Variants() {
		path, err := s.Apply(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		if !unclassifiedIn(path.Warnings) || !strings.Contains(path.Warnings[0].Text, "no groups here") {
			t.Errorf("%v: warnings %v", v, path.Warnings)
		}
		if err := path.Close(); err != nil {
			t.Error(err)
		}
	}
}
