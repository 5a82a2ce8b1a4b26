package result

import (
	"slices"
	"testing"

	"netdelta/internal/spec"
)

func TestMetricNames(t *testing.T) {
	all := MetricNames("")
	for _, d := range tables {
		if !slices.Contains(all, d.Name) {
			t.Errorf("%s is not among all metrics", d.Name)
		}
	}
	for _, k := range spec.Kinds() {
		names := MetricNames(k.Name)
		for _, d := range Definitions(spec.Test{Name: k.Name}) {
			if !slices.Contains(names, d.Name) {
				t.Errorf("%s has %s, which is not named", k.Name, d.Name)
			}
		}
	}
	if !slices.Contains(MetricNames("tcp_stream"), ZeroCopied) || slices.Contains(MetricNames("tcp_stream"), RTTP50) || MetricNames("sctp_rr") != nil {
		t.Error("names of tcp_stream, or of a test that there is not")
	}
}
