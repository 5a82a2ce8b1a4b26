package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/cli"
	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

// From a secret to a comparison: what the two hosts are for.
func TestRunAndCompare(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	for _, label := range []string{"old", "tso/off"} {
		o := x.run(t, "--label", label)
		o.want(t, cli.ExitDone)
		for _, want := range []string{"(" + label + ") to 192.0.2.2, ", ": complete, 10", "icmp_echo size=56 ", "tcp_stream size=128KiB ", "remote", "offered", "Kept as run "} {
			if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), want) {
				t.Errorf("the report lacks %q:\n%s", want, o.stdout)
			}
		}
		checkWidth(t, o.stdout)
	}

	o := x.kept(t, "compare", "old", "tso/off")
	o.want(t, cli.ExitDone)
	if !strings.HasPrefix(o.stdout, "tso/off against old: ") || !strings.Contains(o.stdout, "separate runs") {
		t.Errorf("got\n%s", o.stdout)
	}
	o = x.kept(t, "show", "old")
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, "kernel") || !strings.Contains(o.stdout, "$ netdelta run 192.0.2.2 --secret-file ") {
		t.Errorf("show lacks the machine or the command:\n%s", o.stdout)
	}
	checkWidth(t, o.stdout)

	// The same from a file.
	o = x.kept(t, "show", "old", "--raw")
	o.want(t, cli.ExitDone)
	file := filepath.Join(filepath.Dir(x.secret), "old.json")
	if err := os.WriteFile(file, []byte(o.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	run, trials, err := result.DecodeExport([]byte(o.stdout))
	if err != nil || run.Label != "old" || len(trials) != 10 || len(run.Environments) != 2 || run.State != result.Complete {
		t.Errorf("exported: %+v with %d trials, %v", run, len(trials), err)
	}
	for _, args := range [][]string{{"compare", "old", "tso/off"}, {"compare", file, "tso/off"}} {
		var r compare.Report
		o := x.kept(t, append(args, "--format", "json")...)
		o.want(t, cli.ExitDone)
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || r.Trials != 20 || r.Pairing != compare.Unpaired {
			t.Errorf("%q: %v, %d trials", args, err, r.Trials)
		}
	}

	// Removed is removed.
	if n := len(x.listed(t)); n != 2 {
		t.Errorf("%d runs are listed, want 2", n)
	}
	o = x.kept(t, "rm", "old", run.ID)
	o.want(t, cli.ExitDone)
	if o.stdout != "removed "+run.ID+" (old) of "+run.Start.Format("2006-01-02 15:04:05 UTC")+"\n" {
		t.Errorf("rm said %q", o.stdout)
	}
	x.kept(t, "show", "old").want(t, cli.ExitUsage, `none has the id or label "old"`)
}

func checkWidth(t *testing.T, page string) {
	t.Helper()
	for _, line := range strings.Split(page, "\n") {
		if len(line) > 72 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// The report as JSON is one object, and the figures that are kept are those.
func TestRunJSON(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	o := x.run(t, "--test", "udp_rr size=64,udp_stream", "--format", "json", "--seed", "7")
	o.want(t, cli.ExitDone)
	var r summary.Report
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("%v\n%s", err, o.stdout)
	}
	if r.Schema != summary.Schema || r.Trials != 4 || r.Seed != 7 || len(r.Environments) != 2 || r.Figures[0].Params.Size != 64 {
		t.Errorf("%+v", r)
	}
	again := x.kept(t, "show", r.ID[:5], "--format", "json")
	again.want(t, cli.ExitDone)
	if again.stdout != o.stdout {
		t.Errorf("shown again it differs:\n%s\n%s", o.stdout, again.stdout)
	}
}

// Runs of one label are repetitions, and two runs may share a store.
func TestTwoRunsOneStore(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	var both [2]*begun
	for i := range both {
		both[i] = begin(t, x.lab.A.NS, x.runArgs("--label", "same", "--test", "udp_rr", "--trials", "5")...)
	}
	for _, b := range both {
		b.wait(t).want(t, cli.ExitDone)
	}
	for _, r := range x.listed(t) {
		if r["label"] != "same" || r["trials"] != 5.0 || r["state"] != "complete" {
			t.Errorf("listed: %v", r)
		}
	}
	if n := len(x.listed(t)); n != 2 {
		t.Errorf("%d runs are listed, want 2", n)
	}
}

// An interrupt leaves the trials that were finished, and says so.
func TestRunInterrupted(t *testing.T) {
	x := newTwoHosts(t)
	p := x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--label", "half", "--test", "udp_rr", "--trials", "1000")...)
	x.await(t, func(trials float64) bool { return trials >= 2 })
	x.kept(t, "rm", "half").want(t, cli.ExitUsage, "still being measured")
	if err := b.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	o := b.wait(t)
	o.want(t, cli.ExitInterrupted, "interrupted; the ")
	if !strings.Contains(o.stdout, "udp_rr size=1\n") || !strings.Contains(o.stdout, ": partial,") {
		t.Errorf("the report lacks what was measured:\n%s", o.stdout)
	}
	if r := x.listed(t)[0]; r["state"] != "partial" || r["trials"].(float64) < 2 {
		t.Errorf("listed: %v", r)
	}
	// The agent is free again.
	p.words.await(t, "its client left")
	x.run(t, "--test", "udp_rr", "--exclusive").want(t, cli.ExitDone)
}

// await returns when the run that is under way has that many trials.
func (x *twoHosts) await(t *testing.T, enough func(trials float64) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if _, err := os.Stat(x.store()); err != nil {
			continue
		}
		if runs := x.listed(t); len(runs) > 0 && runs[0]["state"] == "running" && enough(runs[0]["trials"].(float64)) {
			return
		}
	}
	t.Fatal("no trials came")
}

// What is changed between two trials is in neither's counters, and is told all
// the same.
func TestRunOnChangedHost(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--trials", "20")...)
	x.await(t, func(trials float64) bool { return trials >= 1 && trials < 20 })
	ip(t, x.lab.B.NS, "link", "set", x.lab.B.Device, "txqueuelen", "77")
	o := b.wait(t)
	o.want(t, cli.ExitDone)
	want := "this changed at the remote end: " + x.lab.B.Device + " queue length from 1000 to 77"
	if !strings.Contains(strings.Join(strings.Fields(o.stdout), " "), want) {
		t.Errorf("the report lacks %q:\n%s", want, o.stdout)
	}
	if o := x.run(t, "--test", "udp_rr"); strings.Contains(o.stdout, "this changed") {
		t.Errorf("of a run in which nothing changed:\n%s", o.stdout)
	}
}

// A run that is killed leaves what it had, and reads as partial.
func TestRunKilled(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--trials", "1000")...)
	x.await(t, func(trials float64) bool { return trials >= 2 })
	b.Process.Kill()
	b.wait(t)
	r := x.listed(t)[0]
	if r["state"] != "partial" || r["trials"].(float64) < 2 {
		t.Errorf("listed: %v", r)
	}
	o := x.kept(t, "show", r["id"].(string))
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, "ended without finishing") {
		t.Errorf("got\n%s", o.stdout)
	}
}

// Agents that go in the middle of a run: what was measured is kept. One that
// comes back soon enough costs no more than a trial's first attempt.
func TestAgentVanishes(t *testing.T) {
	x := newTwoHosts(t)
	p := x.start(t, "--secret-file", x.secret)
	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--trials", "1000", "--reconnect", "0s")...)
	x.await(t, func(trials float64) bool { return trials >= 2 })
	p.end(t, os.Kill)
	o := b.wait(t)
	o.want(t, cli.ExitUnmeasured, "trials before that are kept as run ")
	if !strings.Contains(o.stderr, "is the agent running there") {
		t.Errorf("got %q", o.stderr)
	}
	if r := x.listed(t)[0]; r["state"] != "partial" || r["trials"].(float64) < 2 {
		t.Errorf("listed: %v", r)
	}

	p = x.start(t, "--secret-file", x.secret)
	b = begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--trials", "30", "--time", "100ms")...)
	x.await(t, func(trials float64) bool { return trials >= 2 && trials < 30 })
	p.end(t, os.Kill)
	x.start(t, "--secret-file", x.secret)
	o = b.wait(t)
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, "a first attempt at the trial failed") {
		t.Errorf("got\n%s", o.stdout)
	}
}

// What keeps a run from beginning is one line each, and nothing is kept of it.
func TestRunCannotBegin(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	other := filepath.Join(filepath.Dir(x.secret), "other")
	if err := os.WriteFile(other, []byte("0123456789abcdefghjkmnpqrstvwxyz"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := x.link.AddrB().String()
	run := func(target string, args ...string) outcome {
		return in(t, x.lab.A.NS, append([]string{"run", target, "--store", x.store(), "--test", "udp_rr", "--time", "50ms"}, args...)...)
	}
	run(at+":7199", "--secret-file", x.secret).want(t, cli.ExitUnmeasured, "nothing listens at "+at+":7199")
	run(at, "--secret-file", other).want(t, cli.ExitUnmeasured, "has another secret")
	run(at, "--insecure").want(t, cli.ExitUnmeasured, "asks for a secret")
	run("nosuch.invalid", "--secret-file", x.secret).want(t, cli.ExitUnmeasured, "the name nosuch.invalid cannot be resolved")
	run("198.51.100.1", "--secret-file", x.secret).want(t, cli.ExitUnmeasured, "is there a route?")
	run("2001:db8:ffff::1", "--secret-file", x.secret).want(t, cli.ExitUnmeasured, "is there a route?")
	if runs := x.listed(t); len(runs) != 0 {
		t.Errorf("kept: %v", runs)
	}

	b := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--trials", "1000", "--exclusive")...)
	x.await(t, func(trials float64) bool { return trials >= 1 })
	x.run(t, "--test", "udp_rr").want(t, cli.ExitUnmeasured, "has the host alone since")
	waiting := begin(t, x.lab.A.NS, x.runArgs("--test", "udp_rr", "--label", "waited", "--wait", "1m")...)
	time.AfterFunc(300*time.Millisecond, func() { b.Process.Signal(syscall.SIGINT) })
	o := waiting.wait(t)
	o.want(t, cli.ExitDone, "waiting: ")
	b.wait(t)
}

// A peer that has IPv6 only, and one that is this host itself.
func TestRunAddresses(t *testing.T) {
	x := newTwoHosts(t)
	if x.link.Addr6B().IsValid() {
		x.start(t, "--secret-file", x.secret, "--listen", "["+x.link.Addr6B().String()+"]:7117")
		args := x.runArgs("--test", "udp_rr,tcp_rr")
		args[1] = x.link.Addr6B().String()
		o := in(t, x.lab.A.NS, args...)
		o.want(t, cli.ExitDone)
		if !strings.Contains(o.stdout, "to 2001:db8::2, ") {
			t.Errorf("got\n%s", o.stdout)
		}
		x.run(t).want(t, cli.ExitUnmeasured, "nothing listens at 192.0.2.2:7117")
	}
	x.start(t, "--secret-file", x.secret, "--listen", "192.0.2.2:7118")
	args := x.runArgs("--test", "udp_rr")
	args[1] = "192.0.2.2:7118"
	o := in(t, x.lab.B.NS, args...)
	o.want(t, cli.ExitDone)
	if !strings.Contains(o.stdout, "the route is loopback: both ends have the address") {
		t.Errorf("got\n%s", o.stdout)
	}
	// Another address of this host is reached through loopback as well.
	args = x.runArgs("--test", "udp_rr", "--data", "127.0.0.1,192.0.2.2")
	args[1] = "192.0.2.2:7118"
	o = in(t, x.lab.B.NS, args...)
	if !strings.Contains(o.stdout, "the route is loopback: 127.0.0.1 and 192.0.2.2") {
		t.Errorf("got\n%s%s", o.stdout, o.stderr)
	}
}

// An MTU that does not pass: the message says which size does.
func TestMTU(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	ip(t, x.lab.B.NS, "link", "set", x.lab.B.Device, "mtu", "1280")
	o := x.run(t, "--test", "udp_rr size=1400,udp_rr size=64", "--trials", "1")
	// veth lets a frame through that has a VLAN tag more than the MTU.
	o.want(t, cli.ExitUnmeasured, "nothing came through in udp_rr 1400: UDP datagrams of 1256 bytes pass and of 1257 bytes do not")
	if !strings.Contains(o.stdout, "udp_rr size=64\n") || !strings.Contains(o.stdout, "0/1") {
		t.Errorf("got\n%s", o.stdout)
	}
}
