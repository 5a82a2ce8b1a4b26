//go:build linux

package netlab

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

const (
	maxNetNS = "/proc/sys/user/max_net_namespaces"
	// inside tells the second run of TestNamespacesGo where it is.
	inside = "NETDELTA_TEST_LIMITED"
)

// TestNamespacesGo makes many labs in a user namespace that may have few
// network namespaces at a time, so that one kept for each lab would end it.
func TestNamespacesGo(t *testing.T) {
	if os.Getenv(inside) == "" {
		labtest.Need(t, feature.UserNS)
		if !NeedUserNS() && os.Getenv("NETDELTA_IN_USERNS") == "" {
			t.Setenv(inside, "1")
			status, err := sys.ReexecInUserNS([]string{"-test.run=^TestNamespacesGo$"})
			if err != nil || status != 0 {
				t.Errorf("in a user namespace: exit status %d, %v", status, err)
			}
			return
		}
	}
	labtest.Need(t, feature.NetNS, feature.Veth)
	old, err := os.ReadFile(maxNetNS)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(maxNetNS, []byte("8"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.WriteFile(maxNetNS, old, 0) })
	for i := range 20 {
		lab := newLabWithin(t, 10*time.Second)
		if _, err := lab.Connect(t.Context(), LinkConfig{Kind: Veth, Context: "backlog"}); err != nil {
			t.Fatalf("lab %d: %v", i, err)
		}
		if err := lab.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// newLabWithin tries again while the namespaces of earlier labs, which the
// kernel destroys in the background, still count.
func newLabWithin(t *testing.T, limit time.Duration) *Lab {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		lab, err := New()
		if err == nil {
			return lab
		}
		if !errors.Is(err, unix.ENOSPC) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
