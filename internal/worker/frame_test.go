package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/traffic"
)

func TestFramesComeBack(t *testing.T) {
	rtt := hist.New()
	for ns := int64(1); ns < 1e10; ns = ns*9/8 + 1 {
		rtt.Record(ns)
	}
	requests := []request{
		{Command: cmdPrepare, Config: &traffic.Config{Role: result.Local, Test: spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1}},
			Warmup: time.Second, Window: time.Minute, CPU: -1, Addr: netip.MustParseAddr("fe80::1%eth0"), Port: 7}},
		{Command: cmdArm, Peer: netip.MustParseAddrPort("[2001:db8::1]:80")},
		{Command: cmdRun},
	}
	replies := []reply{
		{},
		{Port: 65535},
		{Error: &Error{KindPermission, "no\nway"}},
		{End: &result.End{Role: result.Local, Elapsed: time.Second, Messages: 1 << 60, Bytes: 1, RTT: rtt,
			Counts: map[string]int64{"sent": 1}, Warnings: []result.Warning{{Code: "a", Text: "b", Advice: "c"}}}},
	}
	var wire bytes.Buffer
	for _, r := range requests {
		if err := writeFrame(&wire, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range replies {
		if err := writeFrame(&wire, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range requests {
		var got request
		if err := readFrame(&wire, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
	for _, want := range replies {
		var got reply
		if err := readFrame(&wire, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
	if err := readFrame(&wire, new(reply)); err != io.EOF {
		t.Errorf("error %v at the end, want %v", err, io.EOF)
	}
}

func TestFrameLimits(t *testing.T) {
	if err := writeFrame(io.Discard, strings.Repeat("x", maxFrame)); err == nil {
		t.Error("a message over the limit was written")
	}
	for _, c := range []struct {
		wire, want string
	}{
		{"\xff\xff\xff\xff", "over the limit"},
		{"\x00\x00", "unexpected EOF"},
		{"\x00\x00\x00\x05{}", "unexpected EOF"},
		{"\x00\x00\x00\x05", "unexpected EOF"},
		{"\x00\x00\x00\x00", "decode"},
		{"\x00\x00\x00\x02[]", "decode"},
		{"\x00\x00\x00\x0b{\"what\":\"\"}", "unknown field"},
	} {
		err := readFrame(strings.NewReader(c.wire), new(request))
		if err == nil || err == io.EOF || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.wire, err, c.want)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	for _, message := range []any{
		request{Command: cmdArm, Peer: netip.MustParseAddrPort("1.2.3.4:5")},
		reply{Error: &Error{KindFailed, "x"}},
		reply{End: &result.End{RTT: hist.New()}},
	} {
		var wire bytes.Buffer
		if err := writeFrame(&wire, message); err != nil {
			f.Fatal(err)
		}
		f.Add(wire.Bytes())
	}
	f.Add([]byte("\x00\x00\x00\x00")) // an empty message is not the end
	f.Fuzz(func(t *testing.T, wire []byte) {
		for _, message := range []any{new(request), new(reply)} {
			r := bytes.NewReader(wire)
			if err := readFrame(r, message); err != nil {
				if errors.Is(err, io.EOF) && len(wire) > 0 {
					t.Fatalf("%d bytes are the end", len(wire))
				}
				continue
			}
			if used, length := len(wire)-r.Len(), int(binary.BigEndian.Uint32(wire)); used != 4+length {
				t.Fatalf("%d bytes read of a frame of %d", used, length)
			}
			// What can be read can be written.
			if err := writeFrame(io.Discard, message); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestWords(t *testing.T) {
	var w words
	if got := w.last(); got != "" {
		t.Errorf("last words %q of nobody", got)
	}
	for range 10000 {
		io.WriteString(&w, "much said earlier\n")
	}
	io.WriteString(&w, "one\n\n  two \nthree")
	if got := w.last(); !strings.HasSuffix(got, "earlier | one | two | three") || strings.Count(got, "|") != lastLines-1 {
		t.Errorf("last words %q", got)
	}
	if len(w.text) > maxWords {
		t.Errorf("%d bytes are kept, want %d at most", len(w.text), maxWords)
	}
}
