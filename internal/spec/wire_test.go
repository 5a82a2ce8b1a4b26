package spec

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWireWith(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        Wire
	}{
		{"line", "on", Wire{Line: true}},
		{"line", "off", Wire{}},
		{"delay", "0us", Wire{Line: true}},
		{"delay", "none", Wire{Line: true}},
		{"delay", "100us", Wire{Line: true, Delay: 100 * time.Microsecond}},
		{"delay", "10s", Wire{Line: true, Delay: MaxWireDelay}},
		{"rate", "none", Wire{Line: true}},
		{"rate", "100Mbit/s", Wire{Line: true, Rate: 1e8}},
		{"rate", "12.5MB/s", Wire{Line: true, Rate: 1e8}},
		{"rate", "1kbit/s", Wire{Line: true, Rate: MinWireRate}},
		{"rate", "1Tbit/s", Wire{Line: true, Rate: MaxWireRate}},
		{"queue", "1", Wire{Line: true, Queue: 1}},
		{"queue", "100000", Wire{Line: true, Queue: MaxWireQueue}},
		{"loss", "1/100", Wire{Line: true, Loss: Share{Every: 100}}},
		{"loss", "1%", Wire{Line: true, Loss: Share{Random: 0.01}}},
		{"loss", "none", Wire{Line: true}},
		{"loss", "0%", Wire{Line: true}},
		{"duplicate", "1/2", Wire{Line: true, Duplicate: Share{Every: 2}}},
		{"duplicate", "99.5%", Wire{Line: true, Duplicate: Share{Random: 0.995}}},
		{"reorder", "0.0000001%", Wire{Line: true, Reorder: Share{Random: 1e-9}}},
		{"frames", "1", Wire{Line: true, Frames: 1}},
		{"frames", "none", Wire{Line: true}},
		{"frames", "256", Wire{Line: true, Frames: MaxWireFrames}},
		{"wait", "50us", Wire{Line: true, Wait: 50 * time.Microsecond}},
		{"wait", "0us", Wire{Line: true}},
	} {
		got, err := Wire{}.With(c.name, c.value)
		if err != nil || got != c.want {
			t.Errorf("%s %s: %+v, %v; want %+v", c.name, c.value, got, err, c.want)
		}
	}
}

func TestWireRefused(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"latency", "1us", `"latency" is nothing that a wire has: valid are line, delay, rate, queue, loss, duplicate, reorder, frames, wait`},
		{"", "", "is nothing that a wire has"},
		{"line", "yes", "valid are on, off"},
		{"delay", "", "write a number and its unit, as in 100us"},
		{"delay", "100", "write a number and its unit"},
		{"delay", "-1us", "out of range: 0us to 10s"},
		{"delay", "10.1s", "out of range: 0us to 10s"},
		{"rate", "100", "no unit"},
		{"rate", "100Mbps", "two ways"},
		{"rate", "0bit/s", "out of range: 1kbit/s to 1000Gbit/s, or none"},
		{"rate", "999bit/s", "out of range"},
		{"rate", "1.1Tbit/s", "out of range"},
		{"queue", "0", "out of range: 1 to 100000"},
		{"queue", "none", "no whole number"},
		{"queue", "100001", "out of range"},
		{"loss", "1", "write 1/100 for exactly every 100th, 1% for a random one, or none"},
		{"loss", "0.01", "write 1/100"},
		{"loss", "%", "is no share"},
		{"loss", "1e0%", "is no share"},
		{"loss", "1.2.3%", "is no share"},
		{"loss", "-1%", "is no share"},
		{"loss", "1/1", "is all frames"},
		{"loss", "1/0", "is no share"},
		{"loss", "1/007", "is no share"},
		{"loss", "2/100", "is no share"},
		{"loss", "1/1000000001", "out of range"},
		{"duplicate", "100%", "a share is below 100%"},
		{"reorder", "0.00000001%", "at least 0.0000001%"},
		{"frames", "0", "out of range: 1 to 256"},
		{"frames", "257", "out of range"},
		{"wait", "101ms", "out of range: 0us to 100ms"},
	} {
		before := Wire{Delay: time.Second}
		got, err := before.With(c.name, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) || got != before {
			t.Errorf("%s %q: %+v, %v; want %q and no change", c.name, c.value, got, err, c.want)
		}
	}
	if _, err := (Wire{Delay: time.Second}).With("line", "off"); err == nil || !strings.Contains(err.Error(), "(delay=1s) takes the delay line") {
		t.Errorf("a line that is needed was taken away: %v", err)
	}
}

func TestParseWire(t *testing.T) {
	for text, want := range map[string]Wire{
		"":        {},
		"line=on": {Line: true},
		"delay=100us,rate=100Mbit/s,queue=50,loss=1/100": {Line: true, Delay: 100 * time.Microsecond, Rate: 1e8, Queue: 50, Loss: Share{Every: 100}},
		"wait=20us,frames=4":                             {Line: true, Frames: 4, Wait: 20 * time.Microsecond},
		"line=off,delay=0us":                             {Line: true},
		"line=off":                                       {},
	} {
		if got, err := ParseWire(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		",":                                   "write NAME=VALUE",
		"delay":                               "write NAME=VALUE",
		"delay=1us,":                          "write NAME=VALUE",
		"delay=1us,delay=2us":                 `"delay" is given twice`,
		"delay=1us, loss=1%":                  `" loss" is nothing`,
		"rate=10Gbit/s,delay=1s":              "at 10Gbit/s, with a delay of 1s and a queue of 1000 frames, 1194 MiB can be on the way at once, and at most 256 are held",
		"rate=1Tbit/s,queue=100000,delay=1ms": "take a lower rate, delay or queue",
		strings.Repeat("x", 2000):             "2000 bytes of text are more than 1024",
	} {
		if got, err := ParseWire(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

// TestWireCheck has what only a program can ask for.
func TestWireCheck(t *testing.T) {
	for _, w := range []Wire{
		{}, {Line: true}, {Rate: MaxWireRate}, {Rate: 1e9, Delay: time.Second / 2, Queue: MaxWireQueue},
		{Delay: MaxWireDelay}, {Frames: MaxWireFrames, Wait: MaxWireWait}, {Loss: Share{Random: 0.5}},
	} {
		if err := w.Check(); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for _, w := range []Wire{
		{Delay: -1}, {Delay: MaxWireDelay + 1}, {Rate: -1}, {Rate: 1}, {Rate: MaxWireRate + 1}, {Queue: -1}, {Queue: MaxWireQueue + 1},
		{Frames: -1}, {Frames: MaxWireFrames + 1}, {Wait: -1}, {Wait: MaxWireWait + 1},
		{Loss: Share{Every: 1}}, {Loss: Share{Every: -2}}, {Duplicate: Share{Random: 1}}, {Reorder: Share{Random: -0.1}},
		{Loss: Share{Random: math.NaN()}}, {Loss: Share{Every: 2, Random: 0.5}}, {Rate: MaxWireRate, Delay: time.Second},
	} {
		if err := w.Check(); err == nil || !strings.HasPrefix(err.Error(), "wire: ") {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if (Wire{}).Waiting() != DefaultWireQueue || (Wire{Queue: 7}).Waiting() != 7 {
		t.Error("Waiting is not the queue's bound")
	}
	if !(Wire{}).Plain() || (Wire{Line: true}).Plain() || (Wire{Delay: 1}).Plain() {
		t.Error("Plain is wrong")
	}
}

func TestShareText(t *testing.T) {
	for v, want := range map[float64]string{0.01: "1%", 0.07: "7%", 0.5: "50%", 0.125: "12.5%", 0.999: "99.9%", 0.001: "0.1%", 1e-9: "0.0000001%", 0.1: "10%"} {
		if got := (Share{Random: v}).String(); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// TestWireRoundTrip: what a wire is written as is read as that wire.
func TestWireRoundTrip(t *testing.T) {
	share := rapid.Custom(func(t *rapid.T) Share {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return Share{Every: rapid.IntRange(2, maxEvery).Draw(t, "every")}
		case 1:
			return Share{Random: rapid.Float64Range(minRandom, math.Nextafter(1, 0)).Draw(t, "random")}
		}
		return Share{}
	})
	wires := rapid.Custom(func(t *rapid.T) Wire {
		return Wire{
			Line:      true,
			Delay:     time.Duration(rapid.Int64Range(0, int64(MaxWireDelay)).Draw(t, "delay")),
			Rate:      rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(MinWireRate, MaxWireRate)).Draw(t, "rate"),
			Queue:     rapid.IntRange(0, MaxWireQueue).Draw(t, "queue"),
			Loss:      share.Draw(t, "loss"),
			Duplicate: share.Draw(t, "duplicate"),
			Reorder:   share.Draw(t, "reorder"),
			Frames:    rapid.IntRange(0, MaxWireFrames).Draw(t, "frames"),
			Wait:      time.Duration(rapid.Int64Range(0, int64(MaxWireWait)).Draw(t, "wait")),
		}
	}).Filter(func(w Wire) bool { return w.Check() == nil })
	rapid.Check(t, func(t *rapid.T) {
		w := wires.Draw(t, "wire")
		got, err := ParseWire(w.String())
		if err != nil || got != w {
			t.Fatalf("%+v is written %q and read %+v, %v", w, w, got, err)
		}
		// As knobs, in any order, it comes to the same.
		var again Wire
		for _, item := range rapid.Permutation(strings.Split(w.String(), ",")).Draw(t, "order") {
			name, value, _ := strings.Cut(item, "=")
			set := Setting{End: EndBoth, Knob: "wire." + name, Value: value}
			if err := set.Validate(); err != nil {
				t.Fatal(err)
			}
			if again, err = again.With(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if again != w {
			t.Fatalf("set one by one: %+v, want %+v", again, w)
		}
	})
}

func FuzzParseWire(f *testing.F) {
	f.Add("")
	f.Add("delay=100us,rate=100Mbit/s,queue=50,loss=1/100,duplicate=0.7%,reorder=33.3%,frames=4,wait=20us,line=on")
	f.Add("line=off")
	f.Add("loss=0.0%")
	f.Add("delay=1h,rate=99999999999999999999bit/s")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWire(text)
		if err != nil {
			if len(err.Error()) > 1500 {
				t.Fatalf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		if err := w.Check(); err != nil {
			t.Fatalf("%q was taken: %v", text, err)
		}
		again, err := ParseWire(w.String())
		if err != nil || again != w {
			t.Fatalf("%q is %+v, written %q and read %+v, %v", text, w, w, again, err)
		}
	})
}

func TestWireKnob(t *testing.T) {
	k, arg, err := knobOf("wire.delay")
	if err != nil || k.Scope != OnLink || arg != "delay" {
		t.Errorf("got %+v, %q, %v", k, arg, err)
	}
	if k.Arg != strings.Join(WireNames(), "|") {
		t.Errorf("the knob's form %s names others than %v", k.Arg, WireNames())
	}
	for _, s := range []string{"wire", "wire.", "wire.latency"} {
		if _, _, err := knobOf(s); err == nil {
			t.Errorf("%s is a knob", s)
		}
	}
	if err := (Setting{End: EndLocal, Knob: "wire.delay", Value: "1us"}).Validate(); err == nil {
		t.Error("a wire has two ends")
	}
}

func TestWireOfAPlan(t *testing.T) {
	const factors = "factors:\n  delay: {set: wire.delay, levels: [0us, 10us]}\n"
	d, err := ParseDocument([]byte(factors + "lab: {wire: \"loss=1/100,rate=1Gbit/s\"}\n"))
	if err != nil || d.Lab.Wire != (Wire{Line: true, Rate: 1e9, Loss: Share{Every: 100}}) {
		t.Errorf("got %+v, %v", d.Lab, err)
	}
	for _, text := range []string{"lab: {wire: \"loss=1\"}\n", "lab: {wire: {delay: 1us}}\n", "lab: {wire: delay}\n"} {
		if _, err := ParseDocument([]byte(factors + text)); err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseDocument([]byte(strings.Replace(factors, "10us", "10", 1) + "lab: {}\n")); err == nil || !strings.Contains(err.Error(), `"10" is no duration`) {
		t.Errorf("got %v", err)
	}
}
