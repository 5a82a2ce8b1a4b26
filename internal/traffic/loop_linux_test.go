package traffic

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// allocatesNothing counts what the process allocates while both ends of a trial
// run: at most so many objects, which are made once, and nothing for each of the
// messages, or calls, of which there have to be enough to tell.
func allocatesNothing(t *testing.T, tr trial, once, enough int64, count func(local, remote result.End) int64) {
	t.Helper()
	var allocated, n int64
	for range 10 { // a busy machine may let too little through
		local, remote := tr.ends(t)
		if r, ok := remote.(*manyTCPRemote); ok {
			<-r.accept.done // all are taken in
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		remoteDone := start(remote)
		l := finish(t, start(local))
		remote.Stop()
		r := finish(t, remoteDone)
		runtime.ReadMemStats(&after)
		if allocated, n = int64(after.Mallocs-before.Mallocs), count(l, r); n >= enough {
			break
		}
	}
	if n < enough || allocated > once {
		t.Errorf("%d objects were allocated for %d messages; want at most %d, and %d messages or more", allocated, n, once, enough)
	}
}

// fewerMessages and fewerCalls are what the end with fewer of them had.
func fewerMessages(l, r result.End) int64 { return min(l.Messages, r.Messages) }

func fewerCalls(l, r result.End) int64 {
	return min(l.Counts[CountSendCalls], r.Counts[CountReceiveCalls])
}

// TestLoopsAllocateNothing has round trips, and streams with each method. Their
// receivers wait for what comes next: those that nap make few calls.
func TestLoopsAllocateNothing(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr"} {
		t.Run(test, func(t *testing.T) {
			tr := trial{test: test, params: spec.Params{Size: 1000}, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4 * testWindow}
			allocatesNothing(t, tr, 200, 800, fewerMessages)
		})
	}
	for _, how := range []string{spec.ExplainClock, spec.ExplainStamps, spec.ExplainBPF} {
		for _, test := range []string{"udp_rr", "tcp_rr"} {
			t.Run(test+" watched by "+how, func(t *testing.T) {
				needWatching(t, how)
				tr := trial{test: test, params: spec.Params{Size: 1000, Explain: how}, addr: loopbacks["ipv4"], warmup: testWarmup, window: 4 * testWindow}
				// What was seen is put together when all is over.
				allocatesNothing(t, tr, 200+result.MaxSeen*2*60, 100_000, func(l, r result.End) int64 { return 1000*int64(len(l.Seen.Trips)) + fewerMessages(l, r) })
			})
		}
	}
	stream := func(test string, p spec.Params) {
		if p.Send+p.Recv != "write" && p.Send+p.Recv != "recv" && !rawCalls {
			return // Linux's, and of no other layer
		}
		p.Size, p.Wait = 1000, spec.Block
		t.Run(spec.Test{Name: test, Params: p}.String(), func(t *testing.T) {
			needMethods(t, p)
			needMethod(t, p)
			if strings.HasPrefix(p.Send, "uring") || p.Recv == "uring" {
				needURing(t)
			}
			tr := trial{test: test, params: p, addr: loopbacks["ipv4"], warmup: testWarmup, window: 6 * testWindow}
			allocatesNothing(t, tr, 200, 300, fewerCalls)
		})
	}
	for _, m := range sendMethods {
		if m.datagram != nil {
			stream("udp_stream", spec.Params{Send: m.name})
		}
		if m.stream != nil {
			stream("tcp_stream", spec.Params{Send: m.name})
		}
	}
	for _, m := range recvMethods {
		if m.datagram != nil {
			stream("udp_stream", spec.Params{Recv: m.name})
		}
		if m.stream != nil {
			stream("tcp_stream", spec.Params{Recv: m.name})
		}
	}
}

// loops are the functions that run for each message of a window.
var loops = []string{
	"traffic.(*exchange).loop",
	"traffic.(*udpRRRemote).loop",
	"traffic.(*tcpRRLocal).loop",
	"traffic.(*tcpRRRemote).loop",
	"traffic.(*udpSender).loop",
	"traffic.(*udpReceiver).loop",
	"traffic.(*udpSender).pacedLoop",
	"traffic.(*udpFlowPart).loop",
	"traffic.(*outgoing).loop", "traffic.(*incoming).loop",
	"traffic.(*paced).loop",
	"traffic.(*manyOut).loop", "traffic.(*manyIn).loop",
	"traffic.(*tcpAsker).loop", "traffic.(*tcpAnswerer).loop",
	"traffic.(*udpAsker).loop", "traffic.(*udpAnswerer).loop",
	"traffic.(*pacedExchange).loop", "traffic.(*pacedTCPRR).loop",
	"traffic.(*crrCaller).loop", "traffic.(*crrAnswerer).loop",
	"traffic.(*wake).forth", "traffic.(*wake).back",
	// called through an interface
	"traffic.(*futexWaker).wake", "traffic.(*futexWaker).wait",
	"traffic.(*condWaker).wake", "traffic.(*condWaker).wait",
	"traffic.(*fdWaker).wake", "traffic.(*fdWaker).wait",
	"traffic.(*writevStream).send", "traffic.(*readWrite).send", "traffic.(*mmapWrite).send",
	"traffic.(*sendFile).send", "traffic.(*spliceSend).send", "traffic.(*zeroCopyStream).send",
	"traffic.(*truncStream).receive", "traffic.(*spliceRecv).receive", "traffic.(*zeroCopyRecv).receive",
	"traffic.(*writevDatagram).batch", "traffic.(*writevDatagram).send",
	"traffic.(*zeroCopyDatagram).batch", "traffic.(*zeroCopyDatagram).send",
	"traffic.(*writeStream).send", "traffic.(*recvStream).receive",
	"traffic.(*writeDatagram).batch", "traffic.(*writeDatagram).send",
	"traffic.(*recvDatagram).receive", "traffic.(*recvDatagram).datagram",
	"traffic.(*sendmmsgDatagram).batch", "traffic.(*sendmmsgDatagram).send",
	"traffic.(*gsoDatagram).batch", "traffic.(*gsoDatagram).send",
	"traffic.(*recvDatagram).poll", "traffic.(*truncDatagram).poll", "traffic.(*fromDatagram).poll", "traffic.(*recvmmsgDatagram).poll",
	"traffic.(*writeDatagram).aim", "traffic.(*sendmmsgDatagram).aim", "traffic.(*gsoDatagram).aim",
	"traffic.(*truncDatagram).receive", "traffic.(*fromDatagram).receive", "traffic.(*fromDatagram).source",
	"traffic.(*recvmmsgDatagram).receive", "traffic.(*recvmmsgDatagram).datagram", "traffic.(*recvmmsgDatagram).source",
	"traffic.(*groDatagram).receive", "traffic.(*groDatagram).datagram", "traffic.(*groDatagram).source",
	"traffic.(*uringStream).send", "traffic.(*uringRecvStream).receive",
	"traffic.(*uringDatagram).batch", "traffic.(*uringDatagram).send",
	"traffic.(*uringRecvDatagram).receive", "traffic.(*uringRecvDatagram).datagram",
}

// rare are the functions that a loop calls when something out of the ordinary
// has happened, or once or twice in a trial.
var rare = regexp.MustCompile(`^traffic\.\(\*(` + strings.Join([]string{
	`exchange\)\.(unexpected|sendAgain|giveUp|begin)`,
	`udpRRRemote\)\.(unanswered|unsent)`,
	`socket\)\.(sendRest|receiveRest|failed)`,
	`udpSender\)\.(refused|turned|startPace)`,
	`udpFlowPart\)\.meet`,
	`udpReceiver\)\.(quiet|turned)`,
	`sending\)\.(refused|turned|goesOn)`,
	`receiving\)\.(turned|over)`,
	`incoming\)\.nothing`,
	`paced\)\.turned`,
	`manyOut\)\.(idle|failed)`, `manyIn\)\.(idle|nothing)`,
	`tcpAsker\)\.(turned|ended|unwaited|again|failed|unasked)`,
	`tcpAnswerer\)\.(again|failed|gone)`,
	`udpAsker\)\.(unsentNow|askAgain|turned|failed|refused|giveUp|unexpected|cameAfter)`,
	`udpAnswerer\)\.(failed|unanswered)`,
	`crrCaller\)\.(begin|broken|unmade|refused|unconnected|sendRest|receiveRest|noEnd)`,
	`crrAnswerer\)\.(none|sendRest|receiveRest)`,
	`wake\)\.(again|failed)`,
	`meter\)\.(turn|stall|notice)`,
	`openLoop\)\.(begin|turn|full)`,
	`pacedExchange\)\.(odd|opened|over)`,
	`pacedTCPRR\)\.(over|broken)`,
	`pacer\)\.skip`,
	`methodWindow\)\.turned`,
	`drain\)\.over`,
	`uringSender\)\.recall`,
	`mmapWrite\)\.look`,
	`tracker\)\.skip`,
	`watcher\)\.(begin|done|turn|answeredOne)`,
}, "|") + `)$|^runtime\.(panic|gcWriteBarrier|newobject$)`)

// TestLoopsHaveNoStackCheck reads the compiler's assembly. A loop itself may
// check its stack once, on entry. What it calls for each message must not: see
// sys.Sock.
func TestLoopsHaveNoStackCheck(t *testing.T) {
	if !rawCalls {
		t.Skip("portable calls tell the scheduler, which checks the stack")
	}
	functions := compile(t)
	seen := map[string]bool{}
	var visit func(caller, name string)
	visit = func(caller, name string) {
		if rare.MatchString(name) || seen[name] {
			return
		}
		seen[name] = true
		f, ok := functions[name]
		switch {
		case !ok:
			// The runtime's and assembly: these have none.
			if !regexp.MustCompile(`^(runtime\.(nanotime|memequal|memmove|memclrNoHeapPointers|duff.*)|(syscall|unix)\.RawSyscall6?)$`).MatchString(name) {
				t.Errorf("%s calls %s: is it one that may check its stack?", caller, name)
			}
			return
		case f.checksStack && caller != "":
			t.Errorf("%s calls %s for each message, which checks its stack: let it be inlined, or mark it go:nosplit", caller, name)
		}
		for _, callee := range f.calls {
			visit(name, callee)
		}
	}
	for _, l := range loops {
		if _, ok := functions[l]; !ok {
			t.Errorf("there is no %s", l)
		}
		visit("", l)
	}
}

type function struct {
	checksStack bool
	calls       []string
}

// compile returns the functions of the packages that loops are made of.
func compile(t *testing.T) map[string]function {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags=netdelta/internal/...=-S", "netdelta/internal/traffic", "netdelta/internal/sys", "netdelta/internal/sys/uring", "netdelta/internal/hist")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		labtest.Skip(t, fmt.Errorf("compile the loops (go build -gcflags=-S): %w: %.300s", err, stderr.String()))
	}
	text := regexp.MustCompile(`(?m)^(\S+) STEXT |\tCALL\t(\S+)\(SB\)|\tJMP\t(\S+)\(SB\)`)
	functions := map[string]function{}
	current := ""
	for _, m := range text.FindAllStringSubmatch(stderr.String(), -1) {
		if m[1] != "" {
			current = short(m[1])
			functions[current] = function{}
			continue
		}
		f := functions[current]
		callee := short(m[2] + m[3])
		if strings.HasPrefix(callee, "runtime.morestack") {
			f.checksStack = true
		} else {
			f.calls = append(f.calls, callee)
		}
		functions[current] = f
	}
	return functions
}

// short is a symbol without the path of its package.
func short(symbol string) string {
	return symbol[strings.LastIndexByte(symbol, '/')+1:]
}
