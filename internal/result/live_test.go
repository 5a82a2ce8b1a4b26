package result

import (
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

func live(t testing.TB) Live {
	t.Helper()
	test, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return Live{Test: test, End: Local, Interval: Interval{At: 2 * time.Second, Elapsed: time.Second, Messages: 7, Bytes: 14, RTT: RTT{P50: 20_000, Max: 40_000}}}
}

func TestLiveIsReadBack(t *testing.T) {
	want := live(t)
	data, err := EncodeLive(want)
	if err != nil {
		t.Fatal(err)
	}
	want.Schema = LiveSchema
	if got, err := DecodeLive(data); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if len(data) > maxLive/2 {
		t.Errorf("%d bytes", len(data))
	}
}

func TestDecodeLiveRefuses(t *testing.T) {
	data, err := EncodeLive(live(t))
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s has no %s", good, old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct{ name, text, wantErr string }{
		{"nothing", "", "EOF"},
		{"cut off", good[:len(good)-1], "EOF"},
		{"more after it", good + "1", "more after the object's end"},
		{"too long", good + strings.Repeat(" ", maxLive), "at most 4096"},
		{"another schema", swap("interval/1", "interval/2"), "use a newer netdelta"},
		{"a field too many", swap(`"end"`, `"more":1,"end"`), "unknown field"},
		{"another test", swap("udp_rr", "sctp_rr"), "unknown test"},
		{"a test without its defaults", swap(`"size":1`, `"size":0`), "lacks its defaults"},
		{"no end", swap(`"local"`, `"\u001b[2J"`), `end "\x1b[2J"`},
		{"a negative count", swap(`"messages":7`, `"messages":-7`), "-7 messages"},
	} {
		if _, err := DecodeLive([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.wantErr)
		}
	}
}

func FuzzDecodeLive(f *testing.F) {
	data, err := EncodeLive(live(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := DecodeLive(data)
		if err != nil {
			return
		}
		again, err := EncodeLive(got)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		if twice, err := DecodeLive(again); err != nil || twice != got {
			t.Fatalf("read %+v, then %+v, %v", got, twice, err)
		}
	})
}
