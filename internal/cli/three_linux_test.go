package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"netdelta/internal/cli"
	"netdelta/internal/labtest"
	"netdelta/internal/summary"
	"netdelta/internal/sys"
)

// third is a third host, with a link to each of the two agents' hosts.
func (x *twoHosts) third(t *testing.T, a, b *agentProcess) *sys.NetNS {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		labtest.Skip(t, fmt.Errorf("a third host is made with iproute2: %w", err))
	}
	c, err := sys.NewNetNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, l := range []struct {
		name, prefix string
		ns           *sys.NetNS
		pid          int
	}{{"toa", "198.51.100", x.lab.A.NS, a.Process.Pid}, {"tob", "203.0.113", x.lab.B.NS, b.Process.Pid}} {
		ip(t, c, "link", "add", l.name, "type", "veth", "peer", "name", "toc", "netns", strconv.Itoa(l.pid))
		ip(t, c, "address", "add", l.prefix+".1/24", "dev", l.name)
		ip(t, c, "link", "set", l.name, "up")
		ip(t, l.ns, "address", "add", l.prefix+".2/24", "dev", "toc")
		ip(t, l.ns, "link", "set", "toc", "up")
	}
	return c
}

// A third host drives the other two, and the traffic goes between those.
func TestThreeHosts(t *testing.T) {
	x := newTwoHosts(t)
	b := x.start(t, "--secret-file", x.secret)
	a := x.startIn(t, x.lab.A.NS, "--secret-file", x.secret)
	c := x.third(t, a, b)
	run := func(args ...string) outcome {
		return in(t, c, append([]string{"run", "198.51.100.2", "203.0.113.2", "--secret-file", x.secret, "--store", x.store(),
			"--time", "50ms", "--warmup", "10ms", "--trials", "2"}, args...)...)
	}
	before := x.sent(t)
	o := run("--data", "192.0.2.2", "--format", "json")
	o.want(t, cli.ExitDone)
	var r summary.Report
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Target != "198.51.100.2 203.0.113.2" || r.Trials != 10 || len(r.Unmeasured()) != 0 {
		t.Errorf("%+v", r)
	}
	if n := x.sent(t) - before; n < 1000 {
		t.Errorf("the link between the two carried %d packets", n)
	}

	// The address at which b was reached is not one that a has a route to.
	o = run("--test", "udp_rr")
	o.want(t, cli.ExitUnmeasured, "find this end's address on the way to 203.0.113.2")
	o = run("--test", "udp_rr", "--data", "192.0.2.1,192.0.2.2", "--cpu-local", "0")
	o.want(t, cli.ExitDone)

	// One of the two may be missing.
	a.end(t, os.Kill)
	run("--test", "udp_rr").want(t, cli.ExitUnmeasured, "host 198.51.100.2: hello: nothing listens at 198.51.100.2:7117")
}

// sent is the packets that a has sent on the link.
func (x *twoHosts) sent(t *testing.T) int64 {
	t.Helper()
	counts, err := x.link.Counts()
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range counts {
		if strings.HasPrefix(name, "a.") && strings.HasSuffix(name, "tx_packets") {
			return n
		}
	}
	t.Fatalf("the link counts %v", counts)
	return 0
}
