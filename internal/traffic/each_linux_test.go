package traffic

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// checkEach checks what was kept of a window: as much as was asked for, if there
// was as much, and nothing that the histogram does not have.
func checkEach(t *testing.T, end result.End, asked int) {
	t.Helper()
	if want := min(int64(asked), end.Counts[CountSent]); int64(len(end.Each)) != want {
		t.Errorf("%d round trips were kept, want %d: %v", len(end.Each), want, end.Counts)
	}
	for i, ns := range end.Each {
		if ns != noAnswer && (ns <= 0 || ns > end.RTT.Max()) {
			t.Errorf("round trip %d took %d ns, and the longest %d", i, ns, end.RTT.Max())
		}
	}
	if err := end.Validate(); err != nil {
		t.Error(err)
	}
}

// Every test with round trips keeps them, at a rate too. Where all are kept they
// make up the window, which begins with the first and ends with the last.
func TestEach(t *testing.T) {
	for _, test := range []string{"udp_rr", "udp_rr rate=1000", "udp_rr load=tcp_stream", "tcp_rr", "tcp_rr rate=1000", "tcp_crr"} {
		t.Run(test, func(t *testing.T) {
			some, err := spec.ParseTests(test, nil)
			if err != nil {
				t.Fatal(err)
			}
			of := some[0]
			for _, asked := range []int{3, spec.MaxEach} {
				tr := trial{test: of.Name, params: of.Params, addr: loopbacks["ipv4"], warmup: testWarmup, window: testWindow, each: asked}
				local, remote := tr.runFull(t)
				checkEach(t, local, asked)
				if remote.Each != nil {
					t.Errorf("the remote end kept %d", len(remote.Each))
				}
				if asked < spec.MaxEach || of.OpenLoop() || slices.Contains(local.Each, noAnswer) {
					continue
				}
				var sum int64
				for _, ns := range local.Each {
					sum += ns
				}
				// What tcp_crr does between two is in none.
				if time.Duration(sum) > local.Elapsed || of.Name != "tcp_crr" && sum < int64(local.Elapsed)*999/1000 {
					t.Errorf("round trips sum up to %v of %v", time.Duration(sum), local.Elapsed)
				}
			}
		})
	}
}

func TestEachOfEcho(t *testing.T) {
	inNetNS(t, true, func() error {
		addr := loopbacks["ipv4"]
		for _, p := range []spec.Params{{Size: 56}, {Size: 56, Rate: 500}} {
			e, err := New(Config{Role: result.Local, Test: spec.Test{Name: "icmp_echo", Params: p}, Each: 4,
				Warmup: testWarmup, Window: testWindow, CPU: -1, Addr: addr})
			if err != nil {
				return err
			}
			defer e.Close()
			if _, err := e.Prepare(); err != nil {
				return err
			}
			if err := e.Arm(netip.AddrPortFrom(addr, 0)); err != nil {
				return err
			}
			end, err := e.Run()
			if err != nil {
				return err
			}
			checkEach(t, end, 4)
		}
		return nil
	})
}

// A request without an answer has its place, and shows as one.
func TestEachOfLostAnswers(t *testing.T) {
	for _, rate := range []int{0, 1000} {
		tr := lossyTrial(loopbacks["ipv4"], 9)
		tr.params.Rate, tr.each = rate, spec.MaxEach
		tr.between = through(t, func(i int, answer []byte, deliver func([]byte)) {
			if i%10 != 0 {
				deliver(answer)
			}
		})
		local, _ := tr.run(t)
		checkEach(t, local, tr.each)
		lost := int64(0)
		for _, ns := range local.Each {
			if ns == noAnswer {
				lost++
			}
		}
		// Late answers were given up, too. At a rate what the window lost is known
		// by its requests alone.
		if want := local.Counts[CountLost] + local.Counts[CountLate]; lost != want || lost == 0 {
			t.Errorf("rate %d: %d given up, want %d: %v", rate, lost, want, local.Counts)
		}
	}
}

func TestEachRefused(t *testing.T) {
	for _, c := range []struct {
		test spec.Test
		each int
	}{
		{spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1, Flows: 2}}, 1},
		{spec.Test{Name: "tcp_rr", Params: spec.Params{Size: 8, Burst: 2}}, 1},
		{spec.Test{Name: "tcp_stream", Params: spec.Params{Size: 8}}, 1},
		{spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1}}, spec.MaxEach + 1},
		{spec.Test{Name: "udp_rr", Params: spec.Params{Size: 1}}, -1},
	} {
		cfg := Config{Role: result.Local, Test: c.test, Window: testWindow, Each: c.each, CPU: -1, Addr: loopbacks["ipv4"]}
		if _, err := New(cfg); err == nil {
			t.Errorf("%s, each %d: there is an engine", c.test, c.each)
		}
	}
}

// Round trips that are kept cost no object each.
func TestEachInTheLoopAllocatesNothing(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		tr := trial{test: test, params: spec.Params{Size: 1000}, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4 * testWindow, each: spec.MaxEach}
		allocatesNothing(t, tr, 200, 800, fewerMessages)
	}
}
