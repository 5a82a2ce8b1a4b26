package spec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"netdelta/internal/unit"
)

const (
	// maxEvery and minRandom bound how rare what happens to frames may be.
	maxEvery  = 1_000_000_000
	minRandom = 1e-9
	// fullFrame is the bytes on the line of a full Ethernet frame.
	fullFrame = 1514 + 24
)

// Check reports what is wrong with the wire as a whole, or out of range.
func (w Wire) Check() error {
	switch {
	case w.Delay < 0 || w.Delay > MaxWireDelay:
		return fmt.Errorf("wire: a delay of %v is out of range: 0 to %v", w.Delay, MaxWireDelay)
	case w.Rate != 0 && (w.Rate < MinWireRate || w.Rate > MaxWireRate):
		return fmt.Errorf("wire: a rate of %d bit/s is out of range: %s to %s, or none", w.Rate, rateText(MinWireRate), rateText(MaxWireRate))
	case w.Queue < 0 || w.Queue > MaxWireQueue:
		return fmt.Errorf("wire: a queue of %d frames is out of range: 1 to %d", w.Queue, MaxWireQueue)
	case w.Frames < 0 || w.Frames > MaxWireFrames:
		return fmt.Errorf("wire: %d frames of a handler run are out of range: 1 to %d, or none", w.Frames, MaxWireFrames)
	case w.Wait < 0 || w.Wait > MaxWireWait:
		return fmt.Errorf("wire: a wait of %v is out of range: 0 to %v", w.Wait, MaxWireWait)
	}
	for _, s := range []struct {
		name  string
		share Share
	}{{"loss", w.Loss}, {"duplicate", w.Duplicate}, {"reorder", w.Reorder}} {
		if err := s.share.check(); err != nil {
			return fmt.Errorf("wire: %s: %w", s.name, err)
		}
	}
	if held := w.held(); held > MaxWireHeld {
		return fmt.Errorf("wire: at %s, with a delay of %v and a queue of %d frames, %.0f MiB can be on the way at once, and at most %d are held: take a lower rate, delay or queue",
			rateText(w.Rate), w.Delay, w.Waiting(), held/(1<<20), MaxWireHeld>>20)
	}
	return nil
}

// Waiting is how many frames may wait for the line.
func (w Wire) Waiting() int {
	if w.Queue == 0 {
		return DefaultWireQueue
	}
	return w.Queue
}

// held is the bytes that a wire with a rate can have to hold at once, of full
// frames; 0 for one without.
func (w Wire) held() float64 {
	if w.Rate == 0 {
		return 0
	}
	return float64(w.Rate)/8*w.Delay.Seconds() + float64(w.Waiting())*fullFrame
}

func (s Share) check() error {
	switch {
	case s.Every != 0 && s.Random != 0:
		return errors.New("it is every so manyth frame or a random one, not both")
	case s.Every != 0 && (s.Every < 2 || s.Every > maxEvery):
		return fmt.Errorf("1/%d is out of range: 1/2 to 1/%d", s.Every, maxEvery)
	case s.Random != 0 && !(s.Random >= minRandom && s.Random < 1):
		return fmt.Errorf("%v is out of range: a share is below 100%%, and at least 0.0000001%%", s)
	}
	return nil
}

// String is the share as it is written: "1/100" or "1%", empty for none.
func (s Share) String() string {
	switch {
	case s.Every != 0:
		return "1/" + strconv.Itoa(s.Every)
	case s.Random != 0:
		return percentText(s.Random)
	}
	return ""
}

// percentText is a share of 0 to 1 in percent, to the last digit: the shortest
// decimal that is read as the same number, its point moved by two.
func percentText(v float64) string {
	whole, part, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	for len(part) < 2 {
		part += "0"
	}
	text := strings.TrimLeft(whole+part[:2], "0")
	if text == "" {
		text = "0"
	}
	if part = part[2:]; part != "" {
		text += "." + part
	}
	return text + "%"
}

func (w *Wire) setLine(value string) error {
	if err := onOffValue("", value); err != nil {
		return err
	}
	without := *w
	without.Line = false
	if value == string(Off) && !without.Plain() {
		return fmt.Errorf("what the wire does (%s) takes the delay line: leave it on", without)
	}
	w.Line = value == string(On)
	return nil
}

func (w *Wire) setRate(value string) error {
	if value == None {
		w.Rate = 0
		return nil
	}
	rate, err := unit.ParseBitRate(value)
	if err != nil {
		return err
	}
	if rate < MinWireRate || rate > MaxWireRate {
		return fmt.Errorf("%s is out of range: %s to %s, or %s", quoted(value), rateText(MinWireRate), rateText(MaxWireRate), None)
	}
	w.Rate = int64(rate)
	return nil
}

// rateText is a rate with the largest unit that leaves it whole, empty for 0.
func rateText(rate int64) string {
	if rate == 0 {
		return ""
	}
	return formatBits(rate)
}

func durationOf(field func(*Wire) *time.Duration, most time.Duration) func(*Wire, string) error {
	return func(w *Wire, value string) error {
		d, err := time.ParseDuration(value)
		if value == None {
			d, err = 0, nil
		}
		if err != nil {
			return fmt.Errorf("%s is no duration: write a number and its unit, as in 100us", quoted(value))
		}
		if d < 0 || d > most {
			return fmt.Errorf("%s is out of range: 0us to %v", quoted(value), most)
		}
		*field(w) = d
		return nil
	}
}

// durationText is a duration in ASCII, empty for 0.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return strings.ReplaceAll(d.String(), "µ", "u")
}

// countOf reads a number of frames; "none" where that is one of the values.
func countOf(field func(*Wire) *int, most int, none bool) func(*Wire, string) error {
	return func(w *Wire, value string) error {
		if none && value == None {
			*field(w) = 0
			return nil
		}
		if err := numberValue(1, int64(most))("", value); err != nil {
			return err
		}
		*field(w), _ = strconv.Atoi(value) // numberValue has read it
		return nil
	}
}

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func shareOf(field func(*Wire) *Share) func(*Wire, string) error {
	return func(w *Wire, value string) error {
		s, err := parseShare(value)
		if err == nil {
			err = s.check()
		}
		if err != nil {
			return err
		}
		*field(w) = s
		return nil
	}
}

func parseShare(value string) (Share, error) {
	wrong := fmt.Errorf("%s is no share: write 1/100 for exactly every 100th, 1%% for a random one, or %s", quoted(value), None)
	if value == None {
		return Share{}, nil
	}
	if every, ok := strings.CutPrefix(value, "1/"); ok {
		n, err := strconv.ParseUint(every, 10, 31)
		if err != nil || n == 0 || every[0] == '0' {
			return Share{}, wrong
		}
		if n == 1 {
			return Share{}, fmt.Errorf("%s is all frames: a share is below that", quoted(value))
		}
		return Share{Every: int(n)}, nil
	}
	number, ok := strings.CutSuffix(value, "%")
	if !ok || number == "" || strings.ContainsFunc(number, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
		return Share{}, wrong
	}
	// The point is moved in the text, so that 7% is the number nearest to 0.07.
	v, err := strconv.ParseFloat(number+"e-2", 64)
	if err != nil || math.IsInf(v, 0) {
		return Share{}, wrong
	}
	return Share{Random: v}, nil
}

// wireValue is the check of one thing that a lab's wire is asked for.
func wireValue(name, value string) error {
	_, err := Wire{}.With(name, value)
	return err
}
