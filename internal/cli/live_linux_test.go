package cli_test

import (
	"strings"
	"testing"

	"netdelta/internal/cli"
)

// On a terminal each interval is a line while the trial runs, of both ends
// where both have something to say; standard output has the report alone.
func TestLiveIntervals(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	term := newTerminal(t)
	b := &begun{Cmd: command(x.runArgs("--test", "udp_rr,tcp_stream", "--trials", "1", "--time", "450ms", "--interval", "100ms")...)}
	b.Stdout, b.Stderr = &b.out, term.slave
	if err := x.lab.A.NS.Start(b.Cmd); err != nil {
		t.Fatal(err)
	}
	o := b.wait(t)
	const end = "that was all"
	if _, err := term.slave.WriteString(end); err != nil {
		t.Fatal(err)
	}
	term.await(t, end)
	term.mu.Lock()
	shown := term.text.String()
	term.mu.Unlock()
	if o.status != cli.ExitDone || strings.Contains(o.stdout, "\x1b") {
		t.Errorf("exit status %d\n%s", o.status, o.stdout)
	}
	count := map[string]int{}
	for _, line := range strings.Split(shown, "\r\n") {
		if i := strings.LastIndex(line, "\x1b[K"); i >= 0 {
			line = line[i+len("\x1b[K"):]
		}
		words := strings.Fields(line)
		if len(words) > 4 && words[3] == "s" {
			count[words[0]+" "+words[1]]++
			if len(line) > 79 {
				t.Errorf("%d columns: %q", len(line), line)
			}
		}
	}
	for _, what := range []string{"udp_rr local", "tcp_stream local", "tcp_stream remote"} {
		if count[what] < 4 || count[what] > 6 {
			t.Errorf("%d lines of %s: %q", count[what], what, shown)
		}
	}
	if count["udp_rr remote"] > 0 {
		t.Errorf("the remote end of a round trip has nothing to add: %q", shown)
	}

	// The same figures are kept.
	id := x.listed(t)[0]["id"].(string)
	kept := x.kept(t, "show", id, "--intervals")
	kept.want(t, cli.ExitDone)
	if n := strings.Count(kept.stdout, " udp_rr  "); n < 4 {
		t.Errorf("%d intervals of udp_rr are kept:\n%s", n, kept.stdout)
	}
	// Without a terminal nothing is shown, and the figures are kept all the same.
	x.run(t, "--test", "udp_rr", "--trials", "1", "--time", "250ms", "--interval", "100ms").want(t, cli.ExitDone)
	kept = x.kept(t, "show", x.listed(t)[0]["id"].(string), "--intervals")
	if n := strings.Count(kept.stdout, "\n"); n < 2 || n > 4 {
		t.Errorf("%d intervals are kept:\n%s", n, kept.stdout)
	}
}
