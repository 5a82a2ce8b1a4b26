package knob

import (
	"maps"
	"testing"
)

// known, wish and active tell of a feature in tests: changeable, wanted, active.
func feat(name, bits string) featureState {
	return featureState{name: name, changeable: bits[0] == '1', wanted: bits[1] == '1', active: bits[2] == '1'}
}

func TestFeaturesText(t *testing.T) {
	for _, c := range []struct {
		pattern string
		all     []featureState
		want    string
	}{
		{"rx-gro", []featureState{feat("rx-gro", "111"), feat("rx-gro-hw", "100")}, "on"},
		{"rx-gro", []featureState{feat("rx-gro", "100")}, "off"},
		{"rx-gro", []featureState{feat("rx-gro", "110")}, "off rx-gro:on"}, // wanted, and kept from it
		{"rx-lro", []featureState{feat("rx-lro", "000")}, "off"},
		{"tx-tcp*-segmentation", []featureState{feat("tx-tcp6-segmentation", "111"), feat("tx-tcp-segmentation", "100"), feat(mangledIDs, "100")},
			"some tx-tcp-segmentation:off tx-tcp6-segmentation:on"},
		{"tx-tcp*-segmentation", []featureState{feat("tx-tcp-segmentation", "111"), feat(mangledIDs, "100"), feat("tx-tcp6-segmentation", "000")}, "on"},
		{mangledIDs, []featureState{feat(mangledIDs, "111")}, "on"},
		// One of two ways to sum up is enough, and a fixed one is no fault.
		{"tx-checksum-*", []featureState{feat("tx-checksum-ip-generic", "111"), feat("tx-checksum-ipv4", "110"), feat("tx-checksum-sctp", "001")}, "on"},
		{"tx-checksum-*", []featureState{feat("tx-checksum-ip-generic", "001"), feat("tx-checksum-ipv4", "000")}, "on"},
	} {
		found := matching(c.all, c.pattern)
		text := featuresText(found)
		if text != c.want {
			t.Errorf("%s of %v: %q, want %q", c.pattern, c.all, text, c.want)
		}
		// What was read says what was wanted of everything that can be changed.
		own := changeable(found)
		wanted, err := wantedOf(text, own)
		want := map[string]bool{}
		for _, f := range own {
			want[f.name] = f.wanted
		}
		if err != nil || !maps.Equal(wanted, want) {
			t.Errorf("%q means %v, %v, want %v", text, wanted, err, want)
		}
	}
	for _, bad := range []string{"", "yes", "some", "on rx-gro", "off rx-gro:maybe"} {
		if wanted, err := wantedOf(bad, nil); err == nil {
			t.Errorf("%q means %v", bad, wanted)
		}
	}
}
