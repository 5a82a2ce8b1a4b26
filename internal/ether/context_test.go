package ether

import (
	"strings"
	"testing"
)

func TestContextTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Contexts() {
		if c.Name == "" || c.About == "" || seen[c.Name] {
			t.Errorf("row %+v: name and text must be there, and names differ", c)
		}
		seen[c.Name] = true
		if c.Threaded && !c.TAP.NAPI {
			t.Errorf("%s: a kernel thread polls only NAPI", c.Name)
		}
		if polled := c.TAP.NAPI && !c.TAP.NAPIFrags; polled != (c.TAP.SndBuf > 0) {
			t.Errorf("%s: polled %v, queue bounded at %d bytes: a poll's queue needs a bound, and nothing else has a queue", c.Name, polled, c.TAP.SndBuf)
		}
		if c.TAP.VNetHdr {
			t.Errorf("%s: the header is the caller's choice", c.Name)
		}
		got, ok := ContextOf(c.Name)
		if !ok || got != c {
			t.Errorf("ContextOf(%s) = %+v, %v", c.Name, got, ok)
		}
		if !strings.Contains(ContextNames(), c.Name) {
			t.Errorf("%s is not in %q", c.Name, ContextNames())
		}
	}
	for _, name := range []string{"inline", "frags", "backlog", "softirq", "kthread", "uthread"} {
		if !seen[name] {
			t.Errorf("no context %s", name)
		}
	}
	if _, ok := ContextOf("irq"); ok {
		t.Error("an unknown context was found")
	}
	Contexts()[0].Name = "changed"
	if _, ok := ContextOf("changed"); ok {
		t.Error("a caller can change the table")
	}
}
