package agent

import (
	"errors"
	"strings"
	"testing"

	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/traffic"
)

func TestParsePorts(t *testing.T) {
	for _, c := range []struct {
		text string
		want Ports
		ok   bool
	}{
		{"", Ports{}, true}, {"7118", Ports{7118, 7118}, true}, {"7118-7150", Ports{7118, 7150}, true},
		{" 1 - 65535 ", Ports{1, 65535}, true}, {"5-5", Ports{5, 5}, true},
		{"0", Ports{}, false}, {"0-5", Ports{}, false}, {"6-5", Ports{}, false}, {"1-65536", Ports{}, false},
		{"-", Ports{}, false}, {"1-", Ports{}, false}, {"1-2-3", Ports{}, false}, {"http", Ports{}, false}, {"1,2", Ports{}, false},
	} {
		got, err := ParsePorts(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: got %v, error %v", c.text, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "7118-7150") {
			t.Errorf("error %q shows no example", err)
		}
		if c.ok && c.text != "" {
			if again, err := ParsePorts(got.String()); err != nil || again != got {
				t.Errorf("%v is read as %v, error %v", got, again, err)
			}
		}
	}
}

func FuzzParsePorts(f *testing.F) {
	for _, s := range []string{"", "1", "7118-7150", "0-0", "9-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePorts(s)
		if err == nil && s != "" && (p.Min == 0 || p.Min > p.Max) {
			t.Fatalf("%q is read as %+v", s, p)
		}
	})
}

// Whatever a client asks for, the agent's range holds.
func TestDataPorts(t *testing.T) {
	ours := Ports{7118, 7150}
	for _, c := range []struct {
		name     string
		ports    Ports
		port     uint16
		min, max uint16
		want     traffic.Config // only ports
		ok       bool
	}{
		{"none", Ports{}, 9, 0, 0, traffic.Config{Port: 9}, true},
		{"chosen", ours, 0, 0, 0, traffic.Config{PortMin: 7118, PortMax: 7150}, true},
		{"fixed", ours, 7150, 0, 0, traffic.Config{Port: 7150}, true},
		{"narrower", ours, 0, 7119, 7120, traffic.Config{PortMin: 7119, PortMax: 7120}, true},
		{"below", ours, 7117, 0, 0, traffic.Config{}, false},
		{"above", ours, 7151, 0, 0, traffic.Config{}, false},
		{"wider", ours, 0, 7118, 7151, traffic.Config{}, false},
		{"elsewhere", ours, 0, 1, 2, traffic.Config{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := newStable()
			h := hold(t, st, Config{DataPorts: c.ports})
			defer h.finish(t)
			cfg := config(result.Remote)
			cfg.Port, cfg.PortMin, cfg.PortMax = c.port, c.min, c.max
			_, err := h.Prepare(t.Context(), h.id, cfg)
			if !c.ok {
				if !errors.Is(err, ctl.ErrInvalid) || !strings.Contains(err.Error(), "7118-7150") || st.made() != 0 {
					t.Errorf("got %v, %d workers, want %v", err, st.made(), ctl.ErrInvalid)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := st.last
			if got.Port != c.want.Port || got.PortMin != c.want.PortMin || got.PortMax != c.want.PortMax {
				t.Errorf("got port %d, range %d to %d", got.Port, got.PortMin, got.PortMax)
			}
		})
	}
}
