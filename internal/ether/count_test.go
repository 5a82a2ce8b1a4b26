package ether

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCountNamesAreCompleteAndDistinct(t *testing.T) {
	seen := map[string]bool{}
	for c := range Count(numCounts) {
		name := c.String()
		if name == "" || name == "?" || seen[name] {
			t.Errorf("count %d is called %q", c, name)
		}
		seen[name] = true
	}
	for _, c := range []Count{-1, Count(numCounts)} {
		if c.String() != "?" {
			t.Errorf("count %d is called %q", c, c)
		}
	}
}

func TestBatchBuckets(t *testing.T) {
	for n, want := range map[int]string{
		1: "batch_1", 2: "batch_2", 3: "batch_2", 4: "batch_4", 7: "batch_4", 8: "batch_8",
		1023: "batch_512", 2047: "batch_1024", 2048: "batch_2048", 4096: "batch_2048", 1 << 40: "batch_2048",
	} {
		if got := batchBucket(n).String(); got != want {
			t.Errorf("a batch of %d counts as %s, want %s", n, got, want)
		}
	}
}

func TestDirectionSums(t *testing.T) {
	var d Direction
	d[FramesIn], d[Duplicated], d[FramesOut] = 100, 10, 60
	for c := DropTooLong; c <= DropQueue; c++ {
		d[c] = 5
	}
	if got := d.Dropped(); got != 45 {
		t.Errorf("Dropped = %d, want 45", got)
	}
	if got := d.InFlight(); got != 5 {
		t.Errorf("InFlight = %d, want 5", got)
	}
	var later Direction
	later[FramesIn], later[FramesOut] = 103, 60
	diff := later.Since(&Direction{FramesIn: 100})
	if diff[FramesIn] != 3 || diff[FramesOut] != 60 {
		t.Errorf("Since = %v", diff)
	}
}

func TestCountsNameWhatIsNotZero(t *testing.T) {
	var s Stats
	s.AToB[FramesIn] = 7
	s.BToA[DropLinkDown] = 2
	want := map[string]int64{"a_to_b.frames_in": 7, "b_to_a.drop_link_down": 2}
	if d := cmp.Diff(want, s.Counts()); d != "" {
		t.Error(d)
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Stats
		for c := range numCounts {
			s.AToB[c] = rapid.Uint64().Draw(t, "a")
			s.BToA[c] = rapid.Uint64().Draw(t, "b")
		}
		p := s.append([]byte{msgStats})
		m, err := parseMessage(p)
		if err != nil || m.stats != s {
			t.Fatalf("counts %v came back as %v, %v", s, m.stats, err)
		}
		text := rapid.String().Draw(t, "text")
		m, err = parseMessage(textMessage(msgFailed, text))
		if err != nil || (len(text) < maxMessage && m.text != text) {
			t.Fatalf("text %q came back as %q, %v", text, m.text, err)
		}
	})
}

func TestMessagesRefused(t *testing.T) {
	for _, p := range [][]byte{nil, {0}, {askStats}, {msgStats}, append([]byte{msgStats}, make([]byte, statsSize+1)...), make([]byte, maxMessage+1)} {
		if _, err := parseMessage(p); err == nil {
			t.Errorf("%d bytes %.20q were taken", len(p), p)
		}
	}
	if n := len(textMessage(msgReady, string(make([]byte, 2*maxMessage)))); n != maxMessage {
		t.Errorf("a long text makes a message of %d bytes, want %d", n, maxMessage)
	}
	if 1+statsSize > maxMessage {
		t.Errorf("counts of %d bytes do not fit a message", statsSize)
	}
}

func TestWarnings(t *testing.T) {
	none, _ := parseMessage(textMessage(msgReady, ""))
	two, _ := parseMessage(textMessage(msgReady, "one\ntwo"))
	if d := cmp.Diff([][]string{nil, {"one", "two"}}, [][]string{none.warnings(), two.warnings()}); d != "" {
		t.Error(d)
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte{})
	f.Add(textMessage(msgReady, "warning"))
	f.Add(textMessage(msgFailed, "no such device"))
	f.Add((&Stats{}).append([]byte{msgStats}))
	f.Fuzz(func(t *testing.T, p []byte) {
		m, err := parseMessage(p)
		if err != nil {
			return
		}
		var again []byte
		switch m.kind {
		case msgStats:
			again = m.stats.append([]byte{msgStats})
		default:
			again = textMessage(m.kind, m.text)
		}
		if !bytes.Equal(again, p) {
			t.Fatalf("%x came back as %x", p, again)
		}
	})
}
