package knob

import (
	"fmt"
	"strconv"
	"strings"
)

// numberField is where a number is in a structure of ethtool's: a word, and the
// word of the most that it may be; 0 is none.
type numberField struct {
	name      string
	word, max int
}

// numberKind is one of ethtool's structures of numbers (linux/ethtool.h).
type numberKind struct {
	what, option string // "rings", "-G"
	get, set     uint32
	words        int
	fields       []numberField
}

var coalescing = numberKind{what: "interrupt coalescing", option: "-C", get: 0x0e, set: 0x0f, words: 23, fields: []numberField{
	{"rx-usecs", 1, 0}, {"rx-frames", 2, 0}, {"rx-usecs-irq", 3, 0}, {"rx-frames-irq", 4, 0},
	{"tx-usecs", 5, 0}, {"tx-frames", 6, 0}, {"tx-usecs-irq", 7, 0}, {"tx-frames-irq", 8, 0},
	{"stats-block-usecs", 9, 0}, {"adaptive-rx", 10, 0}, {"adaptive-tx", 11, 0},
	{"pkt-rate-low", 12, 0}, {"rx-usecs-low", 13, 0}, {"rx-frames-low", 14, 0}, {"tx-usecs-low", 15, 0}, {"tx-frames-low", 16, 0},
	{"pkt-rate-high", 17, 0}, {"rx-usecs-high", 18, 0}, {"rx-frames-high", 19, 0}, {"tx-usecs-high", 20, 0}, {"tx-frames-high", 21, 0},
	{"sample-interval", 22, 0},
}}

var rings = numberKind{what: "rings", option: "-G", get: 0x10, set: 0x11, words: 9, fields: []numberField{
	{"rx", 5, 1}, {"rx-mini", 6, 2}, {"rx-jumbo", 7, 3}, {"tx", 8, 4},
}}

var channelCounts = numberKind{what: "channels", option: "-L", get: 0x3c, set: 0x3d, words: 9, fields: []numberField{
	{"rx", 5, 1}, {"tx", 6, 2}, {"other", 7, 3}, {"combined", 8, 4},
}}

func (k numberKind) field(name string) (numberField, error) {
	for _, f := range k.fields {
		if f.name == name {
			return f, nil
		}
	}
	return numberField{}, fmt.Errorf("%s: there is no %q", k.what, name)
}

// switches says that the number is written as on or off.
func (f numberField) switches() bool { return strings.HasPrefix(f.name, "adaptive-") }

func (f numberField) text(n uint32) string {
	if f.switches() {
		return onOff(n != 0)
	}
	return strconv.FormatUint(uint64(n), 10)
}

func (f numberField) number(text string) (uint32, error) {
	if f.switches() {
		switch text {
		case stateOn:
			return 1, nil
		case stateOff:
			return 0, nil
		}
		return 0, fmt.Errorf("%q is neither on nor off", text)
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number from 0 to %d", text, uint32(1<<32-1))
	}
	return uint32(n), nil
}

// read asks for all numbers.
func (k numberKind) read(call ethtoolCall) ([]uint32, error) {
	words := make([]uint32, k.words)
	words[0] = k.get
	err := call(words)
	return words, err
}

// write sets one number and leaves the others as they are.
func (k numberKind) write(call ethtoolCall, f numberField, n uint32) error {
	words, err := k.read(call)
	if err != nil {
		return err
	}
	if f.max > 0 && n > words[f.max] {
		return fmt.Errorf("%d is out of range: the device has 0 to %d", n, words[f.max])
	}
	if words[f.word] == n {
		return nil
	}
	words[0], words[f.word] = k.set, n
	return call(words)
}
