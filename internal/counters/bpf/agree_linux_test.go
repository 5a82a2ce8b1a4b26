package bpf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// TestSoftirqsAgreeWithProc: /proc/softirqs, read outside of the two readings,
// counts no less, and read within them no more.
func TestSoftirqsAgreeWithProc(t *testing.T) {
	c := counter(t)
	path := newPath(t)
	outer := procSoftirqs(t)
	before, _ := look(t, c)
	inner := procSoftirqs(t)
	const trips = 2000
	path.trips(t, trips)
	innerEnd := procSoftirqs(t)
	after, _ := look(t, c)
	outerEnd := procSoftirqs(t)
	var received int64
	for i := range after {
		for kind, name := range Kinds {
			runs := after[i].Softirqs[kind].Runs - before[i].Softirqs[kind].Runs
			least := innerEnd[name][i] - inner[name][i]
			most := outerEnd[name][i] - outer[name][i]
			// The kernel counts a run just before it tells the programs of it.
			if runs < least-1 || runs > most+1 {
				t.Errorf("CPU %d: %d runs of %s, but /proc/softirqs has %d to %d", after[i].Number, runs, name, least, most)
			}
		}
		rx := after[i].Softirqs[3]
		received += rx.Runs - before[i].Softirqs[3].Runs
		if rx.Runs > before[i].Softirqs[3].Runs && rx.Time <= before[i].Softirqs[3].Time {
			t.Errorf("CPU %d: softirqs of net_rx took no time", after[i].Number)
		}
	}
	if received == 0 || received > 100*trips {
		t.Errorf("%d runs of net_rx for %d round trips", received, trips)
	}
	var polls, work int64
	for i := range after {
		polls += after[i].Polls - before[i].Polls
		work += after[i].Work - before[i].Work
	}
	if polls == 0 || work < 2*trips {
		t.Errorf("NAPI handled %d packets in %d polls, want at least %d", work, polls, 2*trips)
	}
}

// procSoftirqs reads /proc/softirqs: by name as Kinds has it, the count of
// each CPU that is online.
func procSoftirqs(t *testing.T) map[string][]int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]int64{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		name, ok := strings.CutSuffix(f[0], ":")
		if !ok {
			continue
		}
		for _, v := range f[1:] {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.ToLower(name)] = append(all[strings.ToLower(name)], n)
		}
	}
	for _, name := range Kinds {
		if all[name] == nil {
			t.Fatalf("/proc/softirqs has no %s", name)
		}
	}
	return all
}

// TestIdleAgreesWithProc: the kernel's own account of idle time begins later
// and ends earlier, by what it takes to fall asleep and wake.
func TestIdleAgreesWithProc(t *testing.T) {
	c := counter(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := readIdle(t, c)
	// One CPU works for a part of the time, and all sleep and wake.
	begin := time.Now()
	for time.Since(begin) < 100*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	for time.Since(begin) < 200*time.Millisecond {
	}
	second := readIdle(t, c)
	// What a CPU may have idled on between one look and the next.
	const tick, wake, edge = 10_000_000, 20_000, 2_000 // ns
	less, more := first.gap, second.gap
	for i := range second.cpus {
		was, is := first.cpus[i], second.cpus[i]
		idle := is.Idle - was.Idle
		exact, ticks := second.list[i]-first.list[i], second.stat[i]-first.stat[i]
		t.Logf("CPU %d: idle for %d ns of %d in %d switches, /proc/timer_list says %d, /proc/stat %d", is.Number, idle, second.at-first.at, is.Switches-was.Switches, exact, ticks)
		most := more + wake*(is.Switches-was.Switches+is.Interrupts-was.Interrupts)
		// The kernel's own account of an idle time begins a little before the switch
		// to the idle task is seen, and ends a little after it.
		least := less + wake + edge*(is.Switches-was.Switches)
		if idle < exact-least || idle > exact+most {
			t.Errorf("CPU %d: idle for %d ns, want %d, less %d or more %d at most", is.Number, idle, exact, least, most)
		}
		if idle < ticks-less-2*tick || idle > ticks+most+2*tick {
			t.Errorf("CPU %d: idle for %d ns, /proc/stat says %d", is.Number, idle, ticks)
		}
	}
}

// idleTimes are each CPU's by three accounts, read within gap nanoseconds.
type idleTimes struct {
	cpus       []CPU
	list, stat []int64
	at, gap    int64
}

func readIdle(t *testing.T, c *Counter) (r idleTimes) {
	t.Helper()
	begin := sys.Nanotime()
	r.list, r.stat = procIdle(t)
	r.cpus, r.at = look(t, c)
	r.gap = r.at - begin
	return r
}

var (
	sleepTime = regexp.MustCompile(`\.idle_sleeptime\s*:\s*(\d+) nsecs[^c]*?\.iowait_sleeptime\s*:\s*(\d+) nsecs`)
	statTime  = regexp.MustCompile(`(?m)^cpu\d+ \d+ \d+ \d+ (\d+) (\d+)`)
)

// procIdle reads each CPU's idle time from /proc/timer_list and /proc/stat, in
// nanoseconds, with that in which a thread waited for a disk. The former grows
// when a CPU wakes, so each is woken.
func procIdle(t *testing.T) (list, stat []int64) {
	t.Helper()
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range cpus {
		if err := sys.MoveThread(cpu); err != nil {
			t.Fatal(err)
		}
	}
	if err := sys.MoveThread(cpus...); err != nil {
		t.Fatal(err)
	}
	read := func(name string, pattern *regexp.Regexp, unit int64) (all []int64) {
		text, err := os.ReadFile(name)
		if err != nil {
			labtest.Skip(t, err)
		}
		for _, m := range pattern.FindAllSubmatch(text, -1) {
			var sum int64
			for _, text := range m[1:] {
				n, err := strconv.ParseInt(string(text), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += n * unit
			}
			all = append(all, sum)
		}
		if len(all) != len(cpus) {
			labtest.Skip(t, fmt.Errorf("%s tells of %d CPUs, and this process may wake %d of them", name, len(all), len(cpus)))
		}
		return all
	}
	return read("/proc/timer_list", sleepTime, 1), read("/proc/stat", statTime, 10_000_000)
}

// TestIdleUnderWay: a CPU that sleeps is seen to, without being woken: all the
// time from one look to the next.
func TestIdleUnderWay(t *testing.T) {
	c := counter(t)
	before, at := look(t, c)
	slept := func() bool {
		after, now := look(t, c)
		was, since := before, now-at
		before, at = after, now
		for i := range after {
			if after[i].Idle-was[i].Idle == since && after[i].Switches == was[i].Switches && total(&after[i])-total(&was[i]) == since {
				return true
			}
		}
		return false
	}
	// Only another CPU than this thread's can be seen to sleep, and on a busy
	// machine not for long.
	for end := time.Now().Add(20 * time.Second); !slept(); {
		if time.Now().Before(end) {
			continue
		}
		if !slices.ContainsFunc(before, func(c CPU) bool { return c.Idle > 0 }) {
			labtest.Skip(t, errors.New("no CPU had nothing to do for any of 20 seconds"))
		}
		t.Fatal("no CPU was seen to idle on without a switch")
	}
}

// TestWakeups: threads of this process and those of another.
func TestWakeups(t *testing.T) {
	c := counter(t)
	count := func(do func() error) (all, own, switches int64) {
		before, _ := look(t, c)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		after, _ := look(t, c)
		for i := range after {
			all += after[i].Wakeups - before[i].Wakeups
			own += after[i].OwnWakeups - before[i].OwnWakeups
			switches += after[i].Switches - before[i].Switches
		}
		return all, own, switches
	}
	// A thread that is late may find its message there and need no waking.
	const few = wakes / 2
	all, own, switches := count(func() error { return wakeEachOther(wakes) })
	if own < few || own > 10*wakes || all < own || switches < few {
		t.Errorf("%d round trips of this process: %d wake-ups, %d of them its own, %d switches", wakes, all, own, switches)
	}
	all, own, _ = count(func() error {
		var said bytes.Buffer
		cmd := exec.Command(os.Args[0], roleWake)
		cmd.Stderr = &said
		err := cmd.Run()
		if said.Len() > 0 {
			t.Log(said.String())
		}
		return err
	})
	if all < few || own > few {
		t.Errorf("%d round trips of another process: %d wake-ups, %d of them this one's", wakes, all, own)
	}
}
