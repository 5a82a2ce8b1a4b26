package result

import (
	"fmt"
	"time"

	"netdelta/internal/hist"
)

// fewestSamples is how many round trips a percentile needs to be more than
// the largest one under another name: at least one sample must lie beyond it.
var fewestSamples = map[string]int64{RTTP90: 10, RTTP99: 100, RTTP999: 1000}

const longer = "measure for longer (--time)"

// whichEnd picks one end of a trial, nil where there is none.
type whichEnd func(*Trial) *End

func localEnd(t *Trial) *End  { return &t.Local }
func remoteEnd(t *Trial) *End { return t.Remote }

// quantity reads one count of an end, or says why there is none.
type quantity func(*End) (float64, *Warning)

func messages(e *End) (float64, *Warning) { return float64(e.Messages), nil }

func sent(e *End) (float64, *Warning) { return 8 * float64(e.Bytes), nil }

// Names of the counts of an end that receives a stream and sends one, too, of
// which Bytes and Elapsed tell.
const (
	CountReceivedBytes   = "received_bytes"      // payload, in the window of what it receives
	CountReceivedElapsed = "received_elapsed_ns" // the length of that
)

// receiving is the part of an end that received a stream, with the window that
// it had for that: the end itself where it did nothing else.
func receiving(end whichEnd) whichEnd {
	return part(end, CountReceivedBytes, CountReceivedElapsed)
}

// part is an end with the bytes and the window that two of its counts tell of,
// if it has them.
func part(end whichEnd, bytes, elapsed string) whichEnd {
	return func(t *Trial) *End {
		e := end(t)
		if e == nil {
			return nil
		}
		n, there := e.Counts[bytes]
		if !there {
			return e
		}
		p := *e
		p.Bytes, p.Elapsed = n, time.Duration(e.Counts[elapsed])
		return &p
	}
}

// Names of further counts.
const (
	// CountZeroCopy is the sends without copying that the kernel has done
	// with, CountZeroCopied those of them that it copied all the same.
	CountZeroCopy   = "zerocopy"
	CountZeroCopied = "zerocopy_copied"
	// CountSlots is the slots of an open loop within the window, CountMissed
	// those of them in which nothing was sent.
	CountSlots  = "slots"
	CountMissed = "missed"
	// CountLoadBytes is what an end received of the stream beside a test, in
	// CountLoadElapsed nanoseconds.
	CountLoadBytes   = "load_bytes"
	CountLoadElapsed = "load_elapsed_ns"
)

// countedShare is one counter of an end as a share of another.
func countedShare(end whichEnd, part, whole, wholeName string) derivation {
	return func(t *Trial) (float64, *Warning) {
		e := end(t)
		if e == nil {
			return 0, noRemote()
		}
		n, why := counted(part)(e)
		if why != nil {
			return 0, why
		}
		of, why := counted(whole)(e)
		if why != nil {
			return 0, why
		}
		return share(n, of, part, wholeName)
	}
}

func copied(end whichEnd) derivation {
	return countedShare(end, CountZeroCopied, CountZeroCopy, "completed")
}

func missed(end whichEnd) derivation {
	return countedShare(end, CountMissed, CountSlots, "due")
}

// beside is what an end received of the stream beside a test; nil if it did
// not count that.
func beside(end whichEnd) whichEnd {
	return func(t *Trial) *End {
		e := end(t)
		if e == nil {
			return nil
		}
		if _, there := e.Counts[CountLoadBytes]; !there {
			return nil
		}
		return part(end, CountLoadBytes, CountLoadElapsed)(t)
	}
}

// loadBits is what an end received per second of the stream beside a test.
func loadBits(end whichEnd) derivation {
	return func(t *Trial) (float64, *Warning) {
		if e := end(t); e != nil && beside(end)(t) == nil {
			_, why := counted(CountLoadBytes)(e)
			return 0, why
		}
		return perSecond(beside(end), sent)(t)
	}
}

// NotCounted is the code of the reason for a metric whose counter an end does
// not have, since its system does not tell.
const NotCounted = "not-counted"

// counted reads a named counter. A counter that is not there is no zero.
func counted(name string) quantity {
	return func(e *End) (float64, *Warning) {
		n, ok := e.Counts[name]
		if !ok {
			return 0, &Warning{Code: NotCounted, Text: fmt.Sprintf("the %s end did not count %q", e.Role, name)}
		}
		return float64(n), nil
	}
}

// perSecond is a count of one end over the length of that end's own window.
func perSecond(end whichEnd, what quantity) derivation {
	return func(t *Trial) (float64, *Warning) {
		e := end(t)
		if e == nil {
			return 0, noRemote()
		}
		if e.Elapsed <= 0 {
			return 0, &Warning{Code: "no-window", Text: fmt.Sprintf("the %s end had no window: no traffic after the warm-up", e.Role)}
		}
		n, why := what(e)
		if why != nil {
			return 0, why
		}
		if n < 0 {
			return 0, &Warning{Code: "counts-disagree", Text: fmt.Sprintf("the %s end counted %.0f, which can't be", e.Role, n)}
		}
		return n / e.Elapsed.Seconds(), nil
	}
}

// quantile is a quantile of the round trips, q from 0 to 1.
func quantile(metric string, q float64) derivation {
	return func(t *Trial) (float64, *Warning) {
		rtt, why := samples(t)
		if why != nil {
			return 0, why
		}
		if need := fewestSamples[metric]; rtt.Count() < need {
			return 0, &Warning{Code: "few-samples", Advice: longer,
				Text: fmt.Sprintf("too few round trips for %s, which needs %d", metric, need)}
		}
		return rtt.Quantile(q), nil
	}
}

func meanRTT(t *Trial) (float64, *Warning) {
	rtt, why := samples(t)
	if why != nil {
		return 0, why
	}
	return rtt.Mean(), nil
}

func samples(t *Trial) (*hist.Hist, *Warning) {
	if t.Local.RTT == nil || t.Local.RTT.Count() == 0 {
		return nil, &Warning{Code: "no-samples", Advice: longer,
			Text: "no round trip was completed within the window"}
	}
	return t.Local.RTT, nil
}

// requestLoss is the share of the window's requests that were given up and
// never answered.
func requestLoss(t *Trial) (float64, *Warning) {
	lost, why := counted("lost")(&t.Local)
	if why != nil {
		return 0, why
	}
	sent, why := counted("sent")(&t.Local)
	if why != nil {
		return 0, why
	}
	return share(lost, sent, "requests lost", "sent")
}

// streamLoss is the share of the datagrams that the sender flagged as the
// window's and that the receiver never had, late ones and the tail included.
// Where they are too short to be told apart, every arrival counts for one of
// them.
func streamLoss(t *Trial) (float64, *Warning) {
	if t.Remote == nil {
		return 0, noRemote()
	}
	sent, why := counted("sent")(&t.Local)
	if why != nil {
		return 0, why
	}
	name, what := "unique", "distinct datagrams received"
	if unnumbered(t.Remote) {
		name, what = "total", "datagrams received"
	}
	n, why := counted(name)(t.Remote)
	if why != nil {
		return 0, why
	}
	came, why := share(n, sent, what, "sent")
	if why != nil {
		return 0, why
	}
	return 1 - came, nil
}

// unnumbered says that the receiver counted datagrams by their mark alone.
func unnumbered(e *End) bool {
	_, total := e.Counts["total"]
	_, unique := e.Counts["unique"]
	return total && !unique
}

// shareReceived is a counter of the remote end as a share of all datagrams of
// the window that came, copies included.
func shareReceived(name string) derivation {
	return func(t *Trial) (float64, *Warning) {
		if t.Remote == nil {
			return 0, noRemote()
		}
		if unnumbered(t.Remote) {
			return 0, &Warning{Code: "number-too-short", Advice: "use datagrams of three bytes or more (--sizes)",
				Text: "datagrams of one or two bytes have no room for a number that tells them apart"}
		}
		n, why := counted(name)(t.Remote)
		if why != nil {
			return 0, why
		}
		total, why := counted("total")(t.Remote)
		if why != nil {
			return 0, why
		}
		return share(n, total, name, "received")
	}
}

// share is part / whole. A part that is larger than its whole is a counting
// error of the program or the path, and no figure.
func share(part, whole float64, partName, wholeName string) (float64, *Warning) {
	if part < 0 || part > whole {
		return 0, &Warning{Code: "counts-disagree",
			Text: fmt.Sprintf("%.0f %s of %.0f %s can't be", part, partName, whole, wholeName)}
	}
	if whole == 0 {
		return 0, &Warning{Code: "nothing-" + wholeName, Text: "nothing was " + wholeName + " within the window"}
	}
	return part / whole, nil
}

func noRemote() *Warning {
	return &Warning{Code: "no-remote", Text: "the remote end gave no figures"}
}
