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
	"netdelta/internal/spec"
)

// TestLoopsAllocateNothing counts what the process allocates while both ends
// run: what is made once for a trial, and nothing for each message.
func TestLoopsAllocateNothing(t *testing.T) {
	for _, test := range []string{"udp_rr", "tcp_rr", "udp_stream", "tcp_stream"} {
		t.Run(test, func(t *testing.T) {
			const once = 200
			var allocated, messages int64
			for range 10 { // a busy machine may let too few messages through
				local, remote := trial{test: test, params: spec.Params{Size: 1000}, addr: loopbacks["ipv4"],
					warmup: testWarmup, window: 4 * testWindow}.ends(t)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				remoteDone := start(remote)
				l := finish(t, start(local))
				remote.Stop()
				r := finish(t, remoteDone)
				runtime.ReadMemStats(&after)
				allocated, messages = int64(after.Mallocs-before.Mallocs), min(l.Messages, r.Messages)
				if messages >= 4*once {
					break
				}
			}
			if messages < 4*once || allocated > once {
				t.Errorf("%d objects were allocated for %d messages", allocated, messages)
			}
		})
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
	"traffic.(*tcpSender).loop",
	"traffic.(*tcpReceiver).loop",
	// called through an interface
	"traffic.(*writeStream).send", "traffic.(*recvStream).receive",
	"traffic.(*writeDatagram).batch", "traffic.(*writeDatagram).send",
	"traffic.(*recvDatagram).receive", "traffic.(*recvDatagram).datagram",
}

// rare are the functions that a loop calls when something out of the ordinary
// has happened, or once or twice in a trial.
var rare = regexp.MustCompile(`^traffic\.\(\*(` + strings.Join([]string{
	`exchange\)\.(unexpected|sendAgain|giveUp|begin)`,
	`udpRRRemote\)\.(quiet|unsent)`,
	`socket\)\.(sendRest|receiveRest|failed)`,
	`udpSender\)\.refused`,
	`udpReceiver\)\.(quiet|turned)`,
	`tcpSender\)\.(refused|turned|countRetransmits)`,
	`tcpReceiver\)\.nothing`,
	`meter\)\.(turn|stall)`,
	`methodWindow\)\.turned`,
	`drain\)\.over`,
	`tracker\)\.skip`,
}, "|") + `)$|^runtime\.(panic|gcWriteBarrier|newobject$)`)

// TestLoopsHaveNoStackCheck reads the compiler's assembly. A loop itself may
// check its stack once, on entry. What it calls for each message must not: see
// sys.Sock.
func TestLoopsHaveNoStackCheck(t *testing.T) {
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
			if !regexp.MustCompile(`^(runtime\.(nanotime|memequal|memmove|memclrNoHeapPointers|duff.*)|syscall\.RawSyscall6?)$`).MatchString(name) {
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
	cmd := exec.Command("go", "build", "-gcflags=netdelta/internal/...=-S", "netdelta/internal/traffic", "netdelta/internal/sys", "netdelta/internal/hist")
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
