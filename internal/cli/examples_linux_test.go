package cli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/cli"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/result"
	"netdelta/internal/store/sqlite"
)

// sooner is what follows the examples of a command, so that each takes a second rather
// than a minute. A flag that the example has already is given twice, and the last one
// counts.
var sooner = map[string]string{
	"run":       " --trials 2 --time 60ms --interval 0 --warmup 15ms --tests udp_rr,tcp_stream",
	"explain":   " --trials 2 --time 60ms --interval 0 --warmup 15ms",
	"ab":        " --blocks 2 --time 50ms --warmup 10ms",
	"lab":       " --blocks 1 --time 50ms --warmup 10ms",
	"calibrate": " --total 2s --windows 50ms",
}

// serving are the commands that go on until somebody ends them.
var serving = []string{"agent", "web"}

// allowed are exit statuses other than 0 that an example may end with in this test's
// surroundings, and what it then says.
var allowed = map[string]struct {
	status int
	says   string
}{
	"--fail-on":         {cli.ExitGate, "failed on worse"}, // whatever two trials show
	"coalesce.rx-usecs": {cli.ExitUnmeasured, "coalesce"},  // veth has no interrupts to hold back
	"netdelta lab":      {cli.ExitGate, "check"},           // one block of such windows is too few for it
}

// Every example of --help is carried out as a user would: by a shell, between two hosts
// and with a store and files as the examples speak of.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("they take a minute")
	}
	labtest.Need(t, feature.NetNS, feature.Veth, feature.TAP, feature.TAPNAPI, feature.ThreadedNAPI)
	x := newTwoHosts(t)
	dir := exampleFolder(t, x)
	x.startIn(t, x.lab.A.NS, "--secret-file", x.secret)
	x.start(t, "--secret-file", x.secret, "--settings", "--commands", "--journal", t.TempDir())
	names := strings.NewReplacer("sudo ", "", "/etc/netdelta/secret", "secret", "bench2", x.link.AddrB().String(),
		"192.0.2.1:7117", x.link.AddrA().String()+":7500", "10.0.0.1", x.link.AddrA().String()+":7501",
		"192.0.2.1", x.link.AddrA().String(), "192.0.2.2", x.link.AddrB().String(), "eth0", x.lab.B.Device,
		"modprobe -r drv; insmod old.ko", "true", "modprobe -r drv; insmod new.ko", "true")
	for _, e := range cli.AllExamples() {
		if !strings.Contains(e.Line, "netdelta ") {
			continue // of another program
		}
		t.Run(strings.NewReplacer("/", "|", " ", "_").Replace(e.Line), func(t *testing.T) {
			line := names.Replace(e.Line)
			verb := strings.Fields(strings.TrimLeft(strings.TrimPrefix(e.Line, "sudo "), "("))[1]
			if more, ok := sooner[verb]; ok && !strings.Contains(line, "--list") {
				line += more
				if strings.Contains(line, "--precision") {
					line += " --blocks 6" // the fewest from which one can be reached
				}
			}
			if slices.Contains(serving, verb) {
				serveExample(t, x, dir, strings.ReplaceAll(line, "agent --secret-file secret", "agent --listen "+x.link.AddrA().String()+":7502 --secret-file secret"))
				return
			}
			if strings.Contains(line, "@good") {
				line = "netdelta baseline good old && " + line
			}
			cmd := shell(dir, line)
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := x.lab.A.NS.Start(cmd); err != nil {
				t.Fatal(err)
			}
			late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
			defer late.Stop()
			cmd.Wait() // its outcome is in ProcessState
			status := cmd.ProcessState.ExitCode()
			if status == 0 {
				return
			}
			for part, may := range allowed {
				if strings.Contains(e.Line, part) && status == may.status && strings.Contains(said.String(), may.says) {
					return
				}
			}
			t.Errorf("%s\nexit status %d\n%s%s", line, status, out.String(), said.String())
		})
	}
}

// oneVariant is a run of one of a real lab's variants.
func oneVariant(t *testing.T, variant string) (result.Run, []result.Trial) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "exports", "lab.netdelta"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := result.DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	run := all[0].Run
	var trials []result.Trial
	for _, x := range all[0].Trials {
		if x.Variant["gro"] == variant {
			x.Variant = nil
			trials = append(trials, x)
		}
	}
	run.Plan, run.Target = nil, "bench2"
	return run, trials
}

// shell is a line as somebody types it, in a folder.
func shell(dir, line string) *exec.Cmd {
	secret, _ := os.ReadFile(filepath.Join(dir, "secret"))
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "XDG_DATA_HOME="+dir, "HOME="+dir, "NETDELTA_SECRET="+strings.TrimSpace(string(secret)), "NETDELTA_JOURNAL="+filepath.Join(dir, "journal"))
	return cmd
}

// serveExample waits until the command says that it serves, and ends it.
func serveExample(t *testing.T, x *twoHosts, dir, line string) {
	t.Helper()
	cmd := shell(dir, "exec "+line)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.lab.A.NS.Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("%s: it does not serve: %v %s", line, err, said.String())
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 0 && status != cli.ExitInterrupted {
		t.Errorf("%s: exit status %d %s", line, status, said.String())
	}
}

// exampleFolder has what the examples speak of: a store with the runs old, new and
// 7f3k, and files.
func exampleFolder(t *testing.T, x *twoHosts) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	take := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put("secret", take(x.secret))
	put("plan.yaml", []byte("lab: {link: veth, context: napi}\nfactors:\n  send: {set: param.send, levels: [write, writev]}\ntests: [tcp_stream size=4KiB]\ntime: 50ms\nseed: 3\n"))
	post := filepath.Join("..", "interop", "testdata", "posts")
	put("before.txt", take(filepath.Join(post, "000-sci-tasklet.txt")))
	put("after.txt", take(filepath.Join(post, "000-sci-kthread.txt")))
	put("post.txt", take(filepath.Join(post, "000-sci-kthread.txt")))
	put("post.yaml", take(filepath.Join(post, "002.yaml")))
	for _, n := range []string{"a1", "a2"} {
		put(n+".txt", append([]byte("run "+n+"\n"), take(filepath.Join(post, "000-sci-tasklet.txt"))...))
	}
	for _, n := range []string{"b1", "b2"} {
		put(n+".txt", append([]byte("run "+n+"\n"), take(filepath.Join(post, "000-sci-kthread.txt"))...))
	}
	if err := os.Mkdir(filepath.Join(dir, "netdelta"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "netdelta", "netdelta.db"), filepath.Join(dir, "lab.db")} {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range []struct{ variant, label, id string }{{"on", "old", "1234567890"}, {"off", "new", "2234567890"}, {"on", "7f3", "7f3k567890"}} {
			run, trials := oneVariant(t, from.variant)
			run.ID, run.Label, run.Start = from.id, from.label, run.Start.Add(time.Duration(i)*time.Minute)
			state, end := run.State, run.End
			data, err := result.EncodeExport(run, trials)
			if err != nil {
				t.Fatal(err)
			}
			put(from.label+".json", data)
			if err := s.Begin(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := s.Append(t.Context(), run.ID, trials...); err != nil {
				t.Fatal(err)
			}
			if err := s.Finish(t.Context(), run.ID, state, end.Add(time.Duration(i)*time.Minute), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
