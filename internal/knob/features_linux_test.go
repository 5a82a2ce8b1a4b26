package knob

import (
	"strings"
	"testing"
)

// A device that is asked for what another setting forbids takes the wish and does
// not fulfil it: the kernel allows no TCP segmentation without checksums.
func TestIgnoredFeature(t *testing.T) {
	ns := newVeth(t, 1)
	p := onV0(ns)
	before := everyFeature(t, p)
	h := newTestHolder(t, ns, newJournal(t))
	if _, err := h.Set(t.Context(), local(of("v0", "tx-checksum", "off"), of("v0", "tso", "off"))); err != nil {
		t.Fatal(err)
	}
	_, err := h.Set(t.Context(), local(of("v0", "tx-checksum", "off"), of("v0", "tso", "on")))
	if err == nil || !strings.Contains(err.Error(), "ignored") {
		t.Errorf("segmentation without checksums: %v", err)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := everyFeature(t, p); now != before {
		t.Errorf("features were\n%s\nand are\n%s", before, now)
	}
}

// A feature is back when what is wanted is, though another still keeps it from
// being active.
func TestRestoreBelowAnotherFeature(t *testing.T) {
	ns := newVeth(t, 1)
	p := onV0(ns)
	before := everyFeature(t, p)
	h := newTestHolder(t, ns, newJournal(t))
	both := local(of("v0", "tso", "off"), of("v0", "tx-checksum", "off"))
	if _, err := h.Set(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	// TSO is let go first, and cannot be active.
	if _, err := h.Set(t.Context(), local(both.Settings[1])); err != nil {
		t.Fatal(err)
	}
	if now := readAt(t, p, "tso"); !strings.Contains(now, "tx-tcp-segmentation:on") || strings.HasPrefix(now, "on") {
		t.Errorf("without checksums TSO is %s", now)
	}
	if err := h.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := everyFeature(t, p); now != before {
		t.Errorf("features were\n%s\nand are\n%s", before, now)
	}
}
