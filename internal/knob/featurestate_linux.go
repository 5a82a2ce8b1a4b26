package knob

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// featureAliases are the features that ethtool -K knows by a short name, as
// patterns of the kernel's own names (off_flag_def in ethtool's common.c).
var featureAliases = map[string]string{
	"gro":         "rx-gro",
	"gso":         "tx-generic-segmentation",
	"tso":         "tx-tcp*-segmentation",
	"lro":         "rx-lro",
	"sg":          "tx-scatter-gather*",
	"tx-checksum": "tx-checksum-*",
	"rx-checksum": "rx-checksum",
}

// mangledIDs is no kind of TSO of its own but says how headers are made where
// there is one: most drivers have it off by choice, and it is left alone.
const mangledIDs = "tx-tcp-mangleid-segmentation"

// featureState is one feature of an interface.
type featureState struct {
	name string
	// changeable says that the driver lets it be changed. wanted is what was asked
	// for, active what is so: another feature may be needed for it.
	changeable, wanted, active bool
}

// matching are the features that the pattern is of, in the order of their names.
func matching(all []featureState, pattern string) []featureState {
	var found []featureState
	for _, f := range all {
		if ok, err := path.Match(pattern, f.name); err == nil && ok && (f.name != mangledIDs || pattern == f.name) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b featureState) int { return strings.Compare(a.name, b.name) })
	return found
}

// changeable are those that can be changed.
func changeable(all []featureState) []featureState {
	return slices.DeleteFunc(slices.Clone(all), func(f featureState) bool { return !f.changeable })
}

// The states of several features together: all active, none, or some.
const (
	stateOn   = "on"
	stateOff  = "off"
	stateSome = "some"
)

// featuresText is the state of the features together, judged by those that can
// be changed if there are any. Where what is wanted is not just that, it follows
// by name: "off tx-tcp-segmentation:on".
func featuresText(all []featureState) string {
	own := changeable(all)
	if len(own) == 0 {
		return fixedState(all)
	}
	state := stateOf(own)
	plain := true
	words := []string{state}
	for _, f := range own {
		plain = plain && state == onOff(f.wanted)
		words = append(words, f.name+":"+onOff(f.wanted))
	}
	if plain && state != stateSome {
		return state
	}
	return strings.Join(words, " ")
}

// fixedState is the state of features of which none can be changed: a driver has
// one of several ways to sum up, as ethtool -k judges them.
func fixedState(all []featureState) string {
	return onOff(slices.ContainsFunc(all, func(f featureState) bool { return f.active }))
}

func stateOf(all []featureState) string {
	// A device that sums up anything needs none of those for IPv4 and IPv6 alone,
	// and the kernel takes them from it (netdev_fix_features in net/core/dev.c).
	generic := slices.ContainsFunc(all, func(f featureState) bool { return f.name == "tx-checksum-ip-generic" && f.active })
	n, active := 0, 0
	for _, f := range all {
		if generic && (f.name == "tx-checksum-ipv4" || f.name == "tx-checksum-ipv6") {
			continue
		}
		n++
		if f.active {
			active++
		}
	}
	switch active {
	case 0:
		return stateOff
	case n:
		return stateOn
	}
	return stateSome
}

// wantedOf reads what featuresText wrote, or "on" or "off" for all: what is
// wanted of each of the features that can be changed and that the text is about.
func wantedOf(text string, own []featureState) (map[string]bool, error) {
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != stateOn && words[0] != stateOff && (words[0] != stateSome || len(words) == 1) {
		return nil, fmt.Errorf("%q is neither on nor off", text)
	}
	wanted := map[string]bool{}
	if len(words) == 1 {
		for _, f := range own {
			wanted[f.name] = words[0] == stateOn
		}
		return wanted, nil
	}
	for _, w := range words[1:] {
		name, is, ok := strings.Cut(w, ":")
		if !ok || is != stateOn && is != stateOff {
			return nil, fmt.Errorf("%q of %q is no NAME:on or NAME:off", w, text)
		}
		if slices.ContainsFunc(own, func(f featureState) bool { return f.name == name }) {
			wanted[name] = is == stateOn
		}
	}
	return wanted, nil
}

func onOff(on bool) string {
	if on {
		return stateOn
	}
	return stateOff
}
