//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/hist"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/unit"
)

// openLoop is what round trips at a fixed rate have in common: a request goes
// out when its slot is due, whatever became of those before it, and its round
// trip runs from then. So a stall of the sender or of the path is in the round
// trips of all that fell due meanwhile, and not only in one.
//
// The window is the slots that are due in it. Their requests count whenever
// their answers come, and no others do: what comes in the window of a request
// of the warm-up is none of its messages, and what comes after it of one of its
// own is.
type openLoop struct {
	pacer    pacer
	meter    *meter
	rtt      *hist.Hist // round trips of the window
	samples  *hist.Hist // of the present phase
	warmup   *hist.Hist
	lateness *hist.Hist // of the window's requests, when they were sent
	payload  int        // bytes of a round trip that count

	from, to int64 // the window's slots are those due in [from, to)
	sent     int64 // requests of the window
	tail     int64 // of them those answered in time, but after the window
	alarm    alarm
}

// newOpenLoop returns the loop of a test with a rate.
func newOpenLoop(t spec.Test, m *meter, rtt *hist.Hist, payload int) openLoop {
	o := openLoop{pacer: newPacer(t.Slots(), t.Params.CatchUp == spec.On), meter: m, rtt: rtt, payload: payload,
		warmup: hist.New(), lateness: hist.New()}
	o.samples = o.warmup
	m.time(rtt)
	return o
}

// begin makes the first slot due now.
//
//go:noinline
func (o *openLoop) begin(now int64) {
	o.pacer.begin(now)
	o.meter.tick(now)
	o.from = now + o.meter.warmup
	o.to = o.from + o.meter.length
	if o.meter.phase == open {
		o.samples = o.meter.samples(o.rtt)
	}
}

// turn is what there is to do when the meter's limit is past. It reports
// whether the window has opened. The window has nothing to catch up with.
//
//go:noinline
func (o *openLoop) turn(now int64) (opened bool) {
	turned := o.meter.stall(now)
	switch {
	case turned && o.meter.phase == open:
		o.samples = o.meter.samples(o.rtt)
		o.pacer.next = max(o.pacer.next, o.pacer.first(o.from))
		return true
	case o.meter.phase == closed:
		o.samples = o.rtt
	}
	return false
}

// more says that the next slot, due then, is to be used when its time has come.
// When the window is over a slot of it may still be used, but without a stall's
// length of them to catch up with.
//
//go:nosplit
func (o *openLoop) more(due, now int64) bool {
	return due < o.to && (now < o.to || now-due <= o.pacer.tolerance)
}

// use takes the next slot, which was due then.
//
//go:nosplit
func (o *openLoop) use(due, now int64) {
	o.pacer.take()
	if due >= o.from {
		o.sent++
		o.lateness.Record(now - due)
	}
}

// answered counts an answer in time to the request that was due then. The
// meter's limit must not be past.
//
//go:nosplit
func (o *openLoop) answered(due, now int64) {
	switch {
	case due < o.from:
		o.warmup.Record(now - due)
	case o.meter.phase == open:
		o.samples.Record(now - due)
		if o.meter.event(1, o.payload, now) {
			o.full(now)
		}
	default:
		o.rtt.Record(now - due)
		o.tail++
	}
}

// full ends the window's slots since its quota is through.
//
//go:noinline
func (o *openLoop) full(now int64) {
	o.samples = o.rtt
	o.to = min(o.to, now+1)
}

// await waits until the socket is ready for one of the events, or until the
// next slot or another time, whichever comes first: it is ready to be tried
// then, if not for certain. Shortly before the slot it does not wait. What else
// there may be to do is looked at after pollTime, also where neither time comes.
//
//go:nosplit
func (o *openLoop) await(sock sys.Sock, events int16, now, slot, other int64) (ready bool, errno unix.Errno) {
	wake := slot - o.alarm.lead
	until := min(wake, other, now+int64(pollTime))
	if until <= now {
		return true, 0
	}
	wait := nap(until - now)
	got, errno := sock.Poll(events, wait)
	if got == 0 && errno == 0 && now+wait == wake {
		o.alarm.rang(sys.Nanotime() - wake)
	}
	return got != 0, errno
}

// result is the window's figures, those of counts added.
func (o *openLoop) result() result.End {
	end := o.meter.result(result.Local)
	end.RTT = o.rtt
	end.Messages += o.tail
	end.Bytes += o.tail * int64(o.payload)
	if n := len(end.Intervals); n > 0 { // they add up to the window
		end.Intervals[n-1].Messages += o.tail
		end.Intervals[n-1].Bytes += o.tail * int64(o.payload)
	}
	slots := max(o.pacer.first(o.to)-o.pacer.first(o.from), o.sent)
	end.Counts = map[string]int64{
		CountSent:          o.sent,
		result.CountSlots:  slots,
		result.CountMissed: slots - o.sent,
		CountSendLateP99:   lateP99(o.lateness),
		CountSendLateMax:   o.lateness.Max(),
	}
	return end
}

// lateP99 is the 99th percentile in ns, 0 for no sample.
func lateP99(h *hist.Hist) int64 {
	if h.Count() == 0 {
		return 0
	}
	return int64(h.Quantile(0.99))
}

// lateTolerance is how late a sender may be, and the tenth of a round trip if
// that is longer, without a word.
const lateTolerance = 100 * time.Microsecond

// warnings are what there is to say of the sender's punctuality.
func (o *openLoop) warnings() []result.Warning {
	late := lateP99(o.lateness)
	if o.rtt.Count() == 0 || late <= max(int64(lateTolerance), int64(o.rtt.Quantile(0.5)/10)) {
		return nil
	}
	return []result.Warning{{
		Code: WarnSenderLate,
		Text: fmt.Sprintf("one in a hundred requests was sent %s or more after it was due, the latest %s: that is in the round trips, which run from then",
			unit.Format(float64(late), unit.Nanoseconds), unit.Format(float64(o.lateness.Max()), unit.Nanoseconds)),
		Advice: "the sender can't keep the rate, or its thread could not run: take a lower rate, another CPU, or a real-time priority (fifo)",
	}}
}

// never is a time that does not come.
const never = math.MaxInt64
