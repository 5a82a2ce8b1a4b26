package nft_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/nft"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m, nil)) }

// own makes a table for loopback of a namespace, and this process's group.
func own(t *testing.T) (*sys.NetNS, *nft.Table, sys.Group) {
	t.Helper()
	labtest.Need(t, feature.SocketGroup)
	ns, _ := labtest.Pair(t)
	g, err := sys.OwnGroup()
	if err != nil {
		t.Fatal(err)
	}
	table, err := nft.Count(ns, "lo", g)
	if err != nil {
		t.Fatal(err)
	}
	return ns, table, g
}

// TestOneTable: another of the name is refused, until the first is removed.
func TestOneTable(t *testing.T) {
	labtest.NoLeaks(t)
	ns, table, g := own(t)
	if second, err := nft.Count(ns, "lo", g); !errors.Is(err, unix.EEXIST) || !strings.Contains(err.Error(), "make the table") {
		t.Errorf("a second table: %v, %v", second, err)
	}
	for range 2 {
		if n, err := table.Read(); err != nil || n != (nft.Counts{}) {
			t.Errorf("%+v, %v before anything has come", n, err)
		}
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	table, err := nft.Count(ns, "lo", g)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

// TestChangedTable: what something else has done to the table is told.
func TestChangedTable(t *testing.T) {
	labtest.NoLeaks(t)
	ns, table, g := own(t)
	id, err := g.ID()
	if err != nil {
		t.Fatal(err)
	}
	if err := table.HasAsked(g.Level, id); err != nil {
		t.Errorf("what was asked for is not there: %v", err)
	}
	for _, other := range []error{table.HasAsked(g.Level, id+1), table.HasAsked(g.Level+1, id)} {
		if other == nil || !strings.Contains(other.Error(), "ignored") {
			t.Errorf("another rule than was asked for: %v", other)
		}
	}
	if err := nft.OneMoreCounter(ns); err != nil {
		t.Fatal(err)
	}
	if n, err := table.Read(); err == nil || !strings.Contains(err.Error(), "3 counters") {
		t.Errorf("a rule more: %+v, %v", n, err)
	}
	if err := nft.Remove(ns); err != nil {
		t.Fatal(err)
	}
	if n, err := table.Read(); err == nil || !strings.Contains(err.Error(), "0 counters") {
		t.Errorf("no table: %+v, %v", n, err)
	}
	if err := table.Close(); err == nil {
		t.Error("a table that is not there was removed")
	}
}

// TestGroupThatIsNotThere leaves nothing.
func TestGroupThatIsNotThere(t *testing.T) {
	labtest.NoLeaks(t)
	ns, table, g := own(t)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := nft.Count(ns, "lo", g.Below("none-of-that-name")); !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v", err)
	}
}
