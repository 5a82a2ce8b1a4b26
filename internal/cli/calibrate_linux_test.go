package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"netdelta/internal/calibrate"
	"netdelta/internal/cli"
	"netdelta/internal/labtest"
)

// Between hosts, the report has both ends' facts and figures of every window.
func TestCalibrateBetweenHosts(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	addr := x.link.AddrB().String()
	o := in(t, x.lab.A.NS, "calibrate", addr, "--secret-file", x.secret, "--tests", "udp_rr", "--total", "2s", "--windows", "50ms,100ms", "--format", "json")
	o.want(t, cli.ExitDone)
	var r calibrate.Report
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("%v\n%s", err, o.stdout)
	}
	if r.Schema != calibrate.Schema || r.Target != addr || len(r.Windows) != 2 || r.Partial || r.Trials == 0 || len(r.Answer) == 0 {
		t.Errorf("%+v", r)
	}
	for _, w := range r.Windows {
		if w.Blocks < 1 || w.Trials != 2*w.Blocks || len(w.Floors) != 1 || w.Floors[0].Median == nil || w.BlockNS == nil || *w.BlockNS < 2*w.WindowNS {
			t.Errorf("%+v", w)
		}
	}
	ends := map[string]bool{}
	for _, f := range r.Environment {
		end, _, _ := strings.Cut(f.Name, " ")
		ends[end] = true
	}
	if !ends["local"] || !ends["remote"] {
		t.Errorf("facts of %v", ends)
	}
}

// What was measured before an interrupt is told, here one that comes when a part is
// over and the next one's lab is being made.
func TestCalibrateInterrupted(t *testing.T) {
	labtest.Need(t, labProbe())
	labtest.NoLeaks(t)
	p := &labProcess{term: newTerminal(t)}
	p.cmd = exec.Command("netdelta", "calibrate", "--link", "veth", "--tests", "udp_rr", "--windows", "50ms,100ms", "--total", "10m")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, p.term.slave
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
	})
	p.term.await(t, "calibrate: trial 3 of ")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := p.status(t); got != cli.ExitInterrupted {
		t.Errorf("exit status %d, want %d", got, cli.ExitInterrupted)
	}
	p.term.await(t, "netdelta: interrupted: the report has what was measured until then")
	if out := p.stdout.String(); !strings.HasPrefix(out, "Partial: ") || !strings.Contains(out, "it ended before its time was up") {
		t.Errorf("the report does not say that it is partial: %q", out)
	}
}
