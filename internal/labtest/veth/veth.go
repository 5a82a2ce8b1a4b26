// Package veth gives tests two hosts of their own. It is apart from package
// labtest since the tests of what is below netlab need that one too.
package veth

import (
	"testing"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/sys"
)

// Pair returns two hosts in network namespaces of their own with a veth between
// them, which last until the test ends. It skips the test where there can be
// none.
func Pair(t testing.TB) (*netlab.Lab, *netlab.Link) {
	t.Helper()
	labtest.Need(t, feature.NetNS, feature.Veth)
	lab, err := netlab.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	link, err := lab.Connect(t.Context(), netlab.LinkConfig{Kind: netlab.Veth, Context: "backlog", WireCPU: sys.NoCPU})
	if err != nil {
		t.Fatal(err)
	}
	return lab, link
}
