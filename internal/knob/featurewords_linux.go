package knob

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Commands and values of linux/ethtool.h.
const (
	ethtoolGStrings    = 0x1b
	ethtoolGSSetInfo   = 0x37
	ethtoolGFeatures   = 0x3a
	ethtoolSFeatures   = 0x3b
	ethtoolSetFeatures = 4  // ETH_SS_FEATURES
	ethtoolNameBytes   = 32 // ETH_GSTRING_LEN
)

// maxFeatures is far beyond what a kernel has.
const maxFeatures = 1 << 12

// ethtoolCall hands a structure of words to an interface's driver, which answers
// in its place.
type ethtoolCall func(words []uint32) error

// featureNames are the kernel's names of features, in the order of their bits.
// Bits that are used no more have none.
func featureNames(call ethtoolCall) ([]string, error) {
	// struct ethtool_sset_info: a mask of 64 bits asks, and a word for each of its
	// bits is answered.
	mask := binary.NativeEndian.AppendUint64(nil, 1<<ethtoolSetFeatures)
	info := []uint32{ethtoolGSSetInfo, 0, binary.NativeEndian.Uint32(mask), binary.NativeEndian.Uint32(mask[4:]), 0}
	if err := call(info); err != nil {
		return nil, err
	}
	n := info[4]
	if n > maxFeatures {
		return nil, fmt.Errorf("%d features are more than %d", n, maxFeatures)
	}
	// struct ethtool_gstrings.
	words := make([]uint32, 3+n*ethtoolNameBytes/4)
	words[0], words[1], words[2] = ethtoolGStrings, ethtoolSetFeatures, n
	if err := call(words); err != nil {
		return nil, err
	}
	text := make([]byte, 0, n*ethtoolNameBytes)
	for _, w := range words[3:] {
		text = binary.NativeEndian.AppendUint32(text, w)
	}
	names := make([]string, min(n, words[2]))
	for i := range names {
		name, _, _ := bytes.Cut(text[i*ethtoolNameBytes:(i+1)*ethtoolNameBytes], []byte{0})
		names[i] = string(name)
	}
	return names, nil
}

// featureStates reads the interface's features.
func featureStates(call ethtoolCall) ([]featureState, error) {
	names, err := featureNames(call)
	if err != nil {
		return nil, err
	}
	// struct ethtool_gfeatures: blocks of four words, for 32 features each.
	blocks := (len(names) + 31) / 32
	words := make([]uint32, 2+4*blocks)
	words[0], words[1] = ethtoolGFeatures, uint32(blocks)
	if err := call(words); err != nil {
		return nil, err
	}
	var all []featureState
	for i, name := range names {
		if name == "" {
			continue
		}
		block := words[2+4*(i/32):][:4]
		bit := func(w uint32) bool { return w>>(i%32)&1 != 0 }
		all = append(all, featureState{name: name, changeable: bit(block[0]) && !bit(block[3]), wanted: bit(block[1]), active: bit(block[2])})
	}
	return all, nil
}

// setFeatures asks for features to be on or off, and leaves the others alone.
func setFeatures(call ethtoolCall, wanted map[string]bool) error {
	names, err := featureNames(call)
	if err != nil {
		return err
	}
	// struct ethtool_sfeatures: blocks of which bits are meant and what they are
	// to be.
	blocks := (len(names) + 31) / 32
	words := make([]uint32, 2+2*blocks)
	words[0], words[1] = ethtoolSFeatures, uint32(blocks)
	for i, name := range names {
		on, meant := wanted[name]
		if !meant || name == "" {
			continue
		}
		words[2+2*(i/32)] |= 1 << (i % 32)
		if on {
			words[3+2*(i/32)] |= 1 << (i % 32)
		}
	}
	return call(words)
}
