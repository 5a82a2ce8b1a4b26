package counters

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// burn has the calling thread take so much CPU time.
func burn(t *testing.T, d time.Duration) {
	for begin := own(t).run; own(t).run-begin < int64(d); {
	}
}

// own is what the calling thread has used.
func own(t *testing.T) threadFigures {
	f, err := openThread("/", sys.ThreadID(), false)
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	defer f.close()
	got, err := ownFigures(f.schedstat)
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	return got
}

// startWorker starts a thread that does as it is told, and ends when told no
// more. It is not the process's first one, which never ends.
func startWorker() (tid int, jobs chan func()) {
	jobs = make(chan func())
	started := make(chan int)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		if sys.ThreadID() == os.Getpid() {
			defer runtime.UnlockOSThread()
			tid, jobs = startWorker() // which is another while this one is locked
			started <- tid
			return
		}
		started <- sys.ThreadID()
		for job := range jobs {
			job()
		}
	}()
	tid = <-started
	return tid, jobs
}

func do(jobs chan func(), job func()) {
	done := make(chan struct{})
	jobs <- func() { job(); close(done) }
	<-done
}

// ended waits until a thread is no more.
func ended(t *testing.T, tid int) {
	t.Helper()
	for deadline := now() + int64(10*time.Second); now() < deadline; runtime.Gosched() {
		f, err := openThread("/", tid, false)
		if err != nil {
			return
		}
		f.close()
	}
	t.Fatalf("thread %d does not end", tid)
}

// Each thread's time goes where it belongs, also that of threads that end, and
// of those that are the test's none does.
func TestThreads(t *testing.T) {
	const ms = int64(time.Millisecond)
	list := &threads{}
	src, err := openThreads(&Options{root: "/", threads: list})
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	stays, staysJobs := startWorker()
	tells, tellsJobs := startWorker()
	silent, silentJobs := startWorker()
	apart, apartJobs := startWorker()
	defer close(staysJobs)
	defer close(apartJobs)
	list.add(0, stays)
	list.add(1, tells)
	list.add(7, 1<<30) // there is none
	list.exclude(apart)
	take := func() *sample {
		x, err := src.take()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	before := take()
	var used [4]int64
	for i, jobs := range []chan func(){staysJobs, tellsJobs, silentJobs, apartJobs} {
		do(jobs, func() { begin := own(t).run; burn(t, 20*time.Millisecond); used[i] = own(t).run - begin })
	}
	middle := take()
	do(tellsJobs, list.over)
	close(tellsJobs)
	close(silentJobs)
	ended(t, tells)
	ended(t, silent)
	after := take()
	for i := range 2 {
		if x, err := reading("threads", []*sample{before, middle}[i], []*sample{middle, after}[i]); err != nil || x.Elapsed < 0 {
			t.Fatal(x, err)
		}
		for n, v := range []*sample{before, middle}[i].counts {
			if is := []*sample{middle, after}[i].counts[n]; is < v {
				t.Errorf("%s went back from %d to %d", n, v, is)
			}
		}
	}
	rose := func(name string) int64 { return after.counts[name] - before.counts[name] }
	if got := rose("traffic0.run_ns"); got < used[0] || got > used[0]+20*ms {
		t.Errorf("the first thread used %d ns, and is told to have used %d", used[0], got)
	}
	if got := rose("traffic1.run_ns"); got < used[1] || got > used[1]+20*ms {
		t.Errorf("the thread that has ended used %d ns, and is told to have used %d", used[1], got)
	}
	for _, n := range []string{"traffic0.timeslices", "traffic1.timeslices", "traffic0.voluntary_switches", "traffic1.voluntary_switches"} {
		if rose(n) <= 0 {
			t.Errorf("%s did not rise", n)
		}
	}
	if n := rose("ended"); n < 2 {
		t.Errorf("%d threads ended, want 2 at least", n)
	}
	// The sum has what each used, but for the one that is left out.
	var process int64
	do(apartJobs, func() {
		var f threadFigures
		if err := processFigures(&f); err != nil {
			t.Error(err)
		}
		process = f.run - own(t).run
	})
	if sum := rose("run_ns"); sum < used[0]+used[1]+used[2] {
		t.Errorf("the threads used %d ns and more, and are told to have used %d", used[0]+used[1]+used[2], sum)
	}
	if after.counts["run_ns"] > process {
		t.Errorf("the sum is %d ns, and all but the thread that is left out used %d", after.counts["run_ns"], process)
	}
	if _, there := after.counts["traffic7.run_ns"]; there {
		t.Error("a thread that is not there has figures")
	}
	if cpu, there := after.levels["traffic0.cpu"]; !there || cpu < 0 || after.levels["threads"] < 2 {
		t.Errorf("levels are %v", after.levels)
	}
}

// A thread that tells of itself while the source is given up does no harm.
func TestThreadsClose(t *testing.T) {
	list := &threads{}
	src, err := openThreads(&Options{root: "/", threads: list})
	if err != nil {
		t.Fatal(err)
	}
	tid, jobs := startWorker()
	defer close(jobs)
	list.add(0, tid)
	if _, err := src.take(); err != nil {
		t.Fatal(err)
	}
	if err := src.close(); err != nil {
		t.Fatal(err)
	}
	do(jobs, list.over)
	if traffic, _ := list.all(); traffic[0].final != nil {
		t.Error("a thread told of itself after the end")
	}
}

// The kernel tells the same idle time twice: exactly, and in steps of 10 ms.
// Here it is read with a thread at work on each CPU and without.
func TestIdleAgrees(t *testing.T) {
	o := &Options{root: "/"}
	idle, err := openIdle(o)
	if err != nil {
		labtest.Skip(t, err)
	}
	defer idle.close()
	stat, err := openCPU(o)
	if err != nil {
		t.Fatal(err)
	}
	defer stat.close()
	take := func(s source) map[string]int64 {
		x, err := s.take()
		if err == nil {
			err = x.parsed()
		}
		if err != nil {
			t.Fatal(err)
		}
		return x.counts
	}
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	const (
		span = 100 * time.Millisecond
		// Two steps that are cut off and a tick that has not yet come, at each
		// end.
		slack = int64(60 * time.Millisecond)
	)
	for _, busy := range []bool{false, true} {
		early, first := take(stat), take(idle)
		late, begin := take(stat), now()
		used := make([]int64, len(cpus))
		if busy {
			var workers []chan func()
			for range cpus {
				_, jobs := startWorker()
				defer close(jobs)
				workers = append(workers, jobs)
			}
			together := make(chan struct{})
			for i, jobs := range workers {
				jobs <- func() {
					defer func() { together <- struct{}{} }()
					if err := sys.MoveThread(cpus[i]); err != nil {
						t.Error(err)
						return
					}
					f := own(t).run
					for now()-begin < int64(span) {
					}
					used[i] = own(t).run - f
				}
			}
			for range workers {
				<-together
			}
		} else {
			until(begin + int64(span))
		}
		early2, second := take(stat), take(idle)
		late2, elapsed := take(stat), now()-begin
		both := func(m map[string]int64, cpu string) int64 { return m[cpu+".idle"] + m[cpu+".iowait"] }
		for i, cpu := range cpus {
			name := "cpu" + strconv.Itoa(cpu)
			was, there := first[name+".idle"]
			if !there {
				t.Fatalf("%s has no idle time in %v", name, first)
			}
			d := second[name+".idle"] - was
			low, high := both(early2, name)-both(late, name), both(late2, name)-both(early, name)
			if d < low-slack || d > high+slack {
				t.Errorf("busy %v: %s idle for %v, and by /proc/stat for %v to %v", busy, name, time.Duration(d), time.Duration(low), time.Duration(high))
			}
			if d+used[i] > elapsed+slack {
				t.Errorf("%s idle for %v and busy for %v within %v", name, time.Duration(d), time.Duration(used[i]), time.Duration(elapsed))
			}
		}
	}
}
