package ctl

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

func TestSettingsRoundTrip(t *testing.T) {
	for _, want := range []Settings{testSettings(), {End: spec.EndLocal}, {End: spec.EndLocal, Addr: netip.IPv4Unspecified()}} {
		data, err := EncodeSettings(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeSettings(data); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, error %v, want %+v", got, err, want)
		}
	}
}

func TestDecodeSettingsRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"end", func(w *Settings) { w.End = spec.EndBoth }, "valid are local, remote"},
		{"other end", func(w *Settings) { w.End = spec.EndLocal }, "none of the local end's"},
		{"no end", func(w *Settings) { w.List[0].End = "" }, "none of the remote end's"},
		{"knob", func(w *Settings) { w.List[0].Knob = "grow" }, "unknown knob"},
		{"value", func(w *Settings) { w.List[0].Value = "1" }, "on, off"},
		{"worker's", func(w *Settings) { w.List[0].Knob, w.List[0].Value = "cpu", "1" }, "nothing that an agent sets"},
		{"test's", func(w *Settings) { w.List[0].Knob, w.List[0].Value = "param.send", "gso" }, "nothing that an agent sets"},
		{"link's", func(w *Settings) { w.List[0].Knob, w.List[0].Value = "link", "veth" }, "nothing that an agent sets"},
		{"out of /proc", func(w *Settings) { w.List[0].Knob, w.List[0].Value = "sysctl.net/../../x.y", "1" }, "is no sysctl"},
		{"twice", func(w *Settings) { w.List = append(w.List, w.List[0]) }, "there twice"},
		{"many", func(w *Settings) {
			for i := range maxList {
				w.List = append(w.List, spec.Setting{End: spec.EndRemote, Knob: "gro", Device: fmt.Sprint("d", i), Value: "on"})
			}
		}, "more than 64"},
		{"device", func(w *Settings) { w.List[0].Device = strings.Repeat("d", 16) }, "longer than an interface's name can be"},
		{"command", func(w *Settings) { w.List[2].Command.Check = strings.Repeat("x", 8<<10+1) }, "a command of 8193 bytes"},
		{"no command", func(w *Settings) { w.List[2].Command = nil }, "command"},
		{"group", func(w *Settings) { w.Addr = netip.MustParseAddr("224.0.0.1") }, "no single host's"},
		{"open peer", func(w *Settings) { w.Peer = netip.IPv4Unspecified() }, "no single host's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testSettings()
			c.change(&w)
			if _, err := EncodeSettings(w); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("encode: got error %v, want one with %q", err, c.want)
			}
			data, err := encode(settingsDoc{settingsSchema, w}, "settings", maxSettings)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := DecodeSettings(data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("decode: got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestDecodeChangesRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*result.Change)
		want   string
	}{
		{"end", func(c *result.Change) { c.End = "both" }, "valid are local, remote"},
		{"knob", func(c *result.Change) { c.Knob = "" }, "names no knob"},
		{"time", func(c *result.Change) { c.Took = -1 }, "neither can be negative"},
		{"settling", func(c *result.Change) { c.Settled = -1 }, "neither can be negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := testChanges()
			c.change(&all[1])
			data, err := encodeChanges(all)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decodeChanges(data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Both documents are as strict as the others.
func TestSettingsAndChangesAreStrict(t *testing.T) {
	settings, err := EncodeSettings(testSettings())
	if err != nil {
		t.Fatal(err)
	}
	changes, err := encodeChanges(testChanges())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []struct {
		name   string
		good   []byte
		limit  int
		decode func([]byte) error
	}{
		{"settings", settings, maxSettings, func(b []byte) error { _, err := DecodeSettings(b); return err }},
		{"changes", changes, maxChanges, func(b []byte) error { _, err := decodeChanges(b); return err }},
	} {
		if err := kind.decode(kind.good); err != nil {
			t.Fatalf("%s: %v", kind.name, err)
		}
		padded := append(bytes.Clone(kind.good), bytes.Repeat([]byte(" "), kind.limit-len(kind.good))...)
		if err := kind.decode(padded); err != nil {
			t.Errorf("%s of just the limit: %v", kind.name, err)
		}
		for _, c := range []struct {
			name string
			data []byte
			want string
		}{
			{"empty", nil, "EOF"},
			{"null", []byte("null"), "schema"},
			{"cut off", kind.good[:len(kind.good)-1], "unexpected EOF"},
			{"two", append(bytes.Clone(kind.good), kind.good...), "more after"},
			{"later version", bytes.Replace(kind.good, []byte("/1"), []byte("/2"), 1), "/2"},
			{"unknown field", bytes.Replace(kind.good, []byte(`"end"`), []byte(`"ende"`), 1), "ende"},
			{"too long", append(padded, ' '), "at most"},
		} {
			if err := kind.decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got error %v, want one with %q", kind.name, c.name, err, c.want)
			}
		}
	}
}

func FuzzDecodeSettings(f *testing.F) {
	data, err := EncodeSettings(testSettings())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"netdelta.settings/1","settings":{"end":"local","settings":[{"end":"both","knob":"sysctl.net.core.rmem_max","value":"1"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := DecodeSettings(data)
		if err != nil {
			return
		}
		w.bound()
		w.mayCutLink()
		again, err := EncodeSettings(w)
		if err != nil {
			return // longer than it was, with characters that JSON escapes
		}
		back, err := DecodeSettings(again)
		if err != nil {
			t.Fatalf("%+v cannot be read back: %v", w, err)
		}
		if !reflect.DeepEqual(back, w) {
			t.Fatalf("%+v comes back as %+v", w, back)
		}
	})
}

func FuzzDecodeChanges(f *testing.F) {
	data, err := encodeChanges(testChanges())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeChanges(data)
		if err != nil {
			return
		}
		again, err := encodeChanges(c)
		if err != nil {
			return // as above
		}
		if back, err := decodeChanges(again); err != nil || !cmp.Equal(back, c, cmpopts.EquateEmpty()) {
			t.Fatalf("%+v comes back as %+v, error %v", c, back, err)
		}
	})
}
