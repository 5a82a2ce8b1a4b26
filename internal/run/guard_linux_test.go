package run

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// flap takes the remote host's interface down and up again.
func flap(lab *netlab.Lab) error {
	return lab.B.NS.Do(func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for _, up := range []bool{false, true} {
			r, err := unix.NewIfreq(lab.B.Device)
			if err != nil {
				return err
			}
			if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, r); err != nil {
				return err
			}
			flags := r.Uint16() &^ unix.IFF_UP
			if up {
				flags |= unix.IFF_UP
			}
			r.SetUint16(flags)
			if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// apart has the two ends be taken for two hosts, of which the guards say more.
func apart(p *Path) { p.OneMachine = false }

// provoked runs tests over a veth pair, and again where nothing was warned of: on a
// machine that is busy a trial can lack what is to be provoked.
func provoked(t *testing.T, tests, code string, r *realRun) result.Trial {
	t.Helper()
	labtest.NoLeaks(t)
	levels := []string{"backlog", "napi"}
	need(t, netlab.Veth, levels)
	for range 5 {
		r.trials, r.cfg = nil, Config{Plan: realPlan(t, tests, levels)}
		r.cfg.Plan.Window = 2 * spec.MinWindow
		if err := r.run(t, netlab.Veth); err != nil {
			t.Fatal(err)
		}
		for _, x := range r.trials {
			i := slices.IndexFunc(x.Warnings, func(w result.Warning) bool { return w.Code == CodeUnavailable })
			if i >= 0 {
				labtest.Skip(t, fmt.Errorf("%s can't be done here: %s", tests, x.Warnings[i].Text))
			}
			if slices.ContainsFunc(x.AllWarnings(), func(w result.Warning) bool { return w.Code == code && w.Advice != "" }) {
				return x
			}
		}
	}
	var all []string
	for _, x := range r.trials {
		for _, w := range x.AllWarnings() {
			all = append(all, w.Code+": "+w.Text)
		}
	}
	t.Fatalf("%s never warned of %s, but of %q; counters that are missing: %v", tests, code, all, missing(r.trials))
	return result.Trial{}
}

func missing(trials []result.Trial) []result.Fact {
	var all []result.Fact
	for _, x := range trials {
		if x.Remote != nil && x.Remote.Counters != nil {
			all = append(all, x.Remote.Counters.Missing...)
		}
	}
	return all
}

// What a machine can do to itself is done, and the guards find it.
func TestGuardsForReal(t *testing.T) {
	cpus, err := sys.OnlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code  string
		tests string
		run   realRun
	}{
		{result.GuardLinkFlap, "udp_rr", realRun{meddle: flap}},
		{result.GuardOffloadChanged, "udp_rr", realRun{meddle: func(lab *netlab.Lab) error {
			return lab.B.NS.Do(func() error { return sys.SetGRO(lab.B.Device, false) })
		}}},
		{result.GuardZeroCopied, "tcp_stream send=zerocopy", realRun{}},
		// The kernel counts that time in ticks; with this window it is half of it or more
		// in every other trial, whatever the machine.
		{result.GuardReceiverLimited, "tcp_stream rcvbuf=24KiB", realRun{}},
		{result.GuardRateHeld, "tcp_stream size=4KiB rate=200", realRun{}},
		{result.GuardRateHeld, "tcp_stream pacing=50Mbit/s", realRun{}},
		{result.GuardCoarseCPU, "udp_rr", realRun{path: func(p *Path) { p.Counters = []string{result.SourceCPU} }}},
		{result.GuardOneMachine, "udp_rr", realRun{}},
		{result.GuardToolBound, "udp_stream fifo=10", realRun{path: func(p *Path) { apart(p); p.LocalCPU, p.RemoteCPU = cpus[0], cpus[len(cpus)-1] }}},
		{result.GuardCPUContended, "udp_stream", realRun{path: func(p *Path) { p.LocalCPU, p.RemoteCPU = cpus[0], cpus[0] }}},
	} {
		t.Run(c.code+" "+c.tests, func(t *testing.T) { provoked(t, c.tests, c.code, &c.run) })
	}
}

// A TCP stream can be held at a fixed rate by every method of sending, and the
// record then says that it was held.
func TestEverySendMethodKeepsARate(t *testing.T) {
	tcp, _ := spec.KindOf("tcp_stream")
	for _, m := range spec.SendMethods() {
		if !slices.Contains(m.Protocols, tcp.Protocol) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			x := provoked(t, "tcp_stream size=4KiB rate=200 send="+m.Name, result.GuardRateHeld, &realRun{})
			held := x.Held(result.Remote)
			if want := (result.Held{By: result.HeldByRate, Limit: 200 * 4096 * 8}); held == nil || *held != want {
				t.Errorf("got %+v, want %+v", held, want)
			}
			if d := x.Local.Elapsed; d < 90*time.Millisecond {
				t.Errorf("a window of %v, want 100ms", d)
			}
		})
	}
}
