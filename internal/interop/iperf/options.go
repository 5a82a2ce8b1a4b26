package iperf

import (
	"strconv"
	"strings"

	"netdelta/internal/interop/scan"
)

// options are what a command line says of its test. What it does not say is zero.
type options struct {
	udp, reverse, bidir, server bool
	// both says that iperf2 measures the two directions (-d, -r).
	both       bool
	streams    int
	length     string  // of a message, in bytes
	asked      string  // the rate asked for, as it is written
	congestion string  // -C of iperf3
	omit       string  // seconds, as they are written
	every      float64 // seconds from one row to the next; 0 for rows of totals alone
	seconds    float64 // of the test
}

// valued are the short options that take a value, of iperf2 and iperf3.
const valued = "pfiFABIcbtnklPwCMSLOTXyox"

// long are the short forms of long options.
var long = map[string]string{
	"udp": "u", "reverse": "R", "server": "s", "parallel": "P", "length": "l", "len": "l", "bitrate": "b", "bandwidth": "b",
	"congestion": "C", "omit": "O", "interval": "i", "time": "t", "bidir": "bidir", "full-duplex": "bidir", "dualtest": "d", "tradeoff": "r",
}

// optionsOf reads what follows the program's name.
func optionsOf(tool, words string) options {
	var o options
	w := strings.Fields(words)
	next := func(i *int) string {
		if *i+1 < len(w) {
			*i++
			return w[*i]
		}
		return ""
	}
	for i := 0; i < len(w); i++ {
		if name, is := strings.CutPrefix(w[i], "--"); is {
			name, value, given := strings.Cut(name, "=")
			short := long[name]
			if !given && len(short) == 1 && strings.Contains(valued, short) {
				value = next(&i)
			}
			o.set(tool, short, value)
			continue
		}
		letters, is := strings.CutPrefix(w[i], "-")
		for n := 0; is && n < len(letters); n++ {
			one := letters[n : n+1]
			if !strings.Contains(valued, one) {
				o.set(tool, one, "")
				continue
			}
			value := letters[n+1:]
			if value == "" {
				value = next(&i)
			}
			o.set(tool, one, value)
			break
		}
	}
	return o
}

func (o *options) set(tool, short, value string) {
	switch short {
	case "u":
		o.udp = true
	case "R":
		o.reverse = true
	case "s":
		o.server = true
	case "bidir":
		o.bidir = true
	case "d", "r":
		o.both = o.both || tool == "iperf" // iperf3's -d is for its makers
	case "P":
		o.streams, _ = strconv.Atoi(value)
	case "l":
		o.length = sizeOf(value)
	case "b":
		o.asked = value
	case "C":
		if tool == "iperf3" {
			o.congestion = value
		}
	case "O":
		o.omit = value
	case "i":
		o.every, _ = scan.Number(value)
	case "t":
		o.seconds, _ = scan.Number(value)
	}
}

// sizeOf is a message's size in bytes, of "256" or "8K" (1024); empty for what is none.
func sizeOf(text string) string {
	number := strings.TrimRight(text, "kKmM")
	v, ok := scan.Number(number)
	switch strings.ToUpper(strings.TrimPrefix(text, number)) {
	case "":
	case "K":
		v *= 1 << 10
	case "M":
		v *= 1 << 20
	default:
		return ""
	}
	if !ok || v < 1 || v > 1<<30 {
		return ""
	}
	return word2(v)
}

// askedOf is a rate asked for as a fact: iperf3's in bits per second, with steps of
// 1000; iperf2's versions differ in theirs, so it stays as it is. Empty for no limit.
func askedOf(tool, text string) string {
	if tool != "iperf3" {
		return text
	}
	text, _, _ = strings.Cut(text, "/") // a burst
	number := strings.TrimRight(text, "kKmMgGtT")
	times, known := powers[strings.ToUpper(strings.TrimPrefix(text, number))]
	v, ok := scan.Number(number)
	if !ok || !known || v <= 0 || v*times > maxRate {
		return ""
	}
	return word2(v*times) + " bit/s"
}
