package hosts

import (
	"fmt"
	"strings"
	"testing"

	"netdelta/internal/result"
)

func TestChanged(t *testing.T) {
	ends := func(local, remote []result.Fact) []result.Environment {
		return []result.Environment{{End: result.Local, Facts: local}, {End: result.Remote, Facts: remote}}
	}
	was := []result.Fact{{Name: "kernel", Value: "6.1"}, {Name: "eth0 offloads", Value: "tso gso"}, {Name: "xdp", Value: "generic"}}
	now := []result.Fact{{Name: "kernel", Value: "6.1"}, {Name: "eth0 offloads", Value: "gso"}, {Name: "iptables", Value: "filter"}}
	if w := Changed(ends(was, was), ends(was, was)); len(w) != 0 {
		t.Errorf("nothing changed: %v", w)
	}
	w := Changed(ends(was, was), ends(was, now))
	const want = "while the run was under way, this changed at the remote end: eth0 offloads from tso gso to gso; xdp from generic to nothing; iptables from nothing to filter"
	if len(w) != 1 || w[0].Code != "environment-changed" || w[0].Text != want || w[0].Advice == "" {
		t.Errorf("got %+v", w)
	}
	if w := Changed(ends(was, was), ends(now, nil)[:1]); len(w) != 1 || !strings.Contains(w[0].Text, "local end") {
		t.Errorf("of one end alone: %+v", w)
	}
	var many []result.Fact
	for i := range 2 * mostChanged {
		many = append(many, result.Fact{Name: fmt.Sprint("sysctl ", i), Value: "1"})
	}
	if w := Changed(ends(nil, nil), ends(many, nil)); len(w) != 1 || strings.Count(w[0].Text, ";") != mostChanged || !strings.HasSuffix(w[0].Text, "; and 6 more") {
		t.Errorf("of many: %+v", w)
	}
}
