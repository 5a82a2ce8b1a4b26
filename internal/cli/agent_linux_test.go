package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/cli"
	"netdelta/internal/ctl"
	"netdelta/internal/labtest"
	"netdelta/internal/labtest/veth"
	"netdelta/internal/netlab"
	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// twoHosts are two hosts with a link, of which b runs an agent's process.
type twoHosts struct {
	lab    *netlab.Lab
	link   *netlab.Link
	secret string // the file's name
	way    within
}

// within is a way to an agent that begins in a network namespace.
type within struct {
	ctl.TCP
	ns *sys.NetNS
}

func (w within) Dial(ctx context.Context) (c net.Conn, err error) {
	failed := w.ns.Do(func() error { c, err = w.TCP.Dial(ctx); return nil })
	if failed != nil {
		return nil, failed
	}
	return c, err
}

func newTwoHosts(t *testing.T) *twoHosts {
	t.Helper()
	labtest.NoLeaks(t)
	lab, link := veth.Pair(t)
	x := &twoHosts{lab: lab, link: link, secret: filepath.Join(t.TempDir(), "secret")}
	secret := ctl.NewSecret()
	if err := os.WriteFile(x.secret, []byte(secret.Reveal()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.way = within{ctl.TCP{Addr: x.link.AddrB().String(), Secret: secret}, lab.A.NS}
	return x
}

// agentProcess is a running netdelta agent.
type agentProcess struct {
	*exec.Cmd
	served string // its first line
	words  words
}

// words collects a process's standard error.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan bool
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.more <- true:
	default:
	}
	return w.text.Write(p)
}

// await returns when the process has said that, or fails the test.
func (w *words) await(t *testing.T, what string) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		w.mu.Lock()
		text := w.text.String()
		w.mu.Unlock()
		if strings.Contains(text, what) {
			return
		}
		select {
		case <-w.more:
		case <-late:
			t.Fatalf("the agent said %q, want %q", text, what)
		}
	}
}

// start starts an agent on b and returns when it serves.
func (x *twoHosts) start(t *testing.T, args ...string) *agentProcess {
	t.Helper()
	return x.startIn(t, x.lab.B.NS, args...)
}

// startIn is start on another host.
func (x *twoHosts) startIn(t *testing.T, ns *sys.NetNS, args ...string) *agentProcess {
	t.Helper()
	p := &agentProcess{Cmd: exec.Command("netdelta", append([]string{"agent"}, args...)...)}
	p.words.more = make(chan bool, 1)
	p.Stderr = &p.words
	p.Cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Start(p.Cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no line from the agent: %v, %s", err, p.words.text.String())
	}
	p.served = line
	return p
}

// end sends a signal and returns the exit status.
func (p *agentProcess) end(t *testing.T, s os.Signal) int {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(10*time.Second, func() { p.Process.Kill() })
	defer late.Stop()
	p.Wait()
	return p.ProcessState.ExitCode()
}

// prepare is a trial's remote end that runs for ten minutes unless it is
// ended, and its local end on a.
func (x *twoHosts) prepare(t *testing.T, c *ctl.Client) *ctl.Session {
	t.Helper()
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	test, err := spec.NewTest("udp_rr", spec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := traffic.Config{Role: result.Remote, Test: test, Window: 10 * time.Minute, CPU: sys.NoCPU,
		Addr: netip.IPv4Unspecified(), Peer: x.link.AddrA()}
	if _, err := s.Prepare(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := s.Arm(t.Context(), netip.AddrPortFrom(x.link.AddrA(), 9)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (x *twoHosts) dial(t *testing.T) *ctl.Client {
	t.Helper()
	c, err := ctl.Dial(t.Context(), "b", x.way, ctl.Options{Client: "tester", Version: "v0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// An agent says in one line that it serves, and how; it says who comes and
// goes; told to stop in the middle of a trial it ends that, tells the client
// why, and leaves nothing.
func TestAgentStops(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			x := newTwoHosts(t)
			p := x.start(t, "--secret-file", x.secret, "--data-ports", "7118-7120")
			if want := "netdelta agent " + cli.Version; !strings.HasPrefix(p.served, want) || !strings.HasSuffix(p.served, " serves [::]:7117, secured by a secret, data ports 7118-7120\n") {
				t.Errorf("got %q", p.served)
			}
			c := x.dial(t)
			if s := x.prepare(t, c); s.Bound().Port() < 7118 || s.Bound().Port() > 7120 {
				t.Errorf("the worker is at %v", s.Bound())
			} else {
				s.Close()
			}
			p.words.await(t, `session 1 of "tester" (192.0.2.1:`)
			p.words.await(t, `version "v0") begins`)
			p.words.await(t, "trials: 1: its client left")

			s := x.prepare(t, c)
			if _, err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			workers := workersOf(t, p.Process.Pid)
			idle, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer idle.Close()
			if status := p.end(t, signal); status != cli.ExitDone {
				t.Errorf("exit status %d, want %d; %s", status, cli.ExitDone, p.words.text.String())
			}
			for _, pid := range workers {
				if labtest.Alive(pid) {
					t.Errorf("worker %d outlives its agent", pid)
				}
			}
			for _, s := range []*ctl.Session{s, idle} {
				<-s.Done()
				if _, err := s.Drain(t.Context()); !errors.Is(err, ctl.ErrClosing) {
					t.Errorf("client: got %v, want %v", err, ctl.ErrClosing)
				}
			}
			p.words.await(t, "agent is closing")
			if got := p.words.text.String(); strings.Count(got, "\n") != 6 {
				t.Errorf("want six lines of three sessions, got\n%s", got)
			}
		})
	}
}

// workersOf lists the workers of an agent, of which there must be one.
func workersOf(t *testing.T, pid int) []int {
	t.Helper()
	workers, err := labtest.Children(pid)
	if err != nil || len(workers) != 1 {
		t.Fatalf("the agent's workers: %v, error %v, want one", workers, err)
	}
	return workers
}

// An agent that is killed leaves no worker, and its client knows at once.
func TestAgentKilled(t *testing.T) {
	for _, at := range []string{"before", "within", "after"} {
		t.Run(at, func(t *testing.T) {
			x := newTwoHosts(t)
			p := x.start(t, "--secret-file", x.secret)
			c := x.dial(t)
			s := x.prepare(t, c)
			workers := workersOf(t, p.Process.Pid)
			began := time.Now()
			var err error
			switch at {
			case "before":
				p.end(t, os.Kill)
				_, err = s.Run(t.Context())
			case "within":
				if _, err := s.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.end(t, os.Kill)
				<-s.Done()
				_, err = s.Drain(t.Context())
			case "after":
				if _, err := s.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.end(t, os.Kill)
				_, err = s.Drain(t.Context())
			}
			if !errors.Is(err, ctl.ErrLost) && !errors.Is(err, ctl.ErrUnreachable) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %v or %v", err, ctl.ErrLost, ctl.ErrUnreachable)
			}
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("it took %v", d)
			}
			for deadline := time.Now().Add(5 * time.Second); labtest.Alive(workers[0]); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("worker %d outlives its agent", workers[0])
				}
			}
			if _, err := ctl.Dial(t.Context(), "b", x.way, ctl.Options{}); !errors.Is(err, ctl.ErrRefused) {
				t.Errorf("got %v, want %v", err, ctl.ErrRefused)
			}
			// Nothing holds the port, so that the next agent can have it.
			x.start(t, "--secret-file", x.secret)
			x.dial(t)
		})
	}
}

// A port that something else owns is one clear line, and exit 3.
func TestAgentPortTaken(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	for _, c := range []struct{ listen, want string }{
		{":7117", "listen on :7117: the port is taken, by another agent or another program (ss -ltnp sport = :7117 names it): end that, or choose another port (--listen :7217)"},
		{"192.0.2.99", "listen on 192.0.2.99:7117: no interface here has that address"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("netdelta", "agent", "--secret-file", x.secret, "--listen", c.listen)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := x.lab.B.NS.Start(cmd); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != cli.ExitUnmeasured || stdout.Len() > 0 {
			t.Errorf("%s: exit status %d, want %d; on stdout %q", c.listen, status, cli.ExitUnmeasured, stdout.String())
		}
		if got := stderr.String(); !strings.HasPrefix(got, "netdelta: "+c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: got %q, want %q", c.listen, got, c.want)
		}
	}
}

// Who is not let in is told why, and the agent tells it too, but not for ever.
func TestAgentRefuses(t *testing.T) {
	x := newTwoHosts(t)
	p := x.start(t, "--secret-file", x.secret, "--listen", "192.0.2.2:7117")
	if !strings.Contains(p.served, "serves 192.0.2.2:7117, secured") {
		t.Errorf("got %q", p.served)
	}
	wrong := x.way
	wrong.Secret = ctl.NewSecret()
	if _, err := ctl.Dial(t.Context(), "b", wrong, ctl.Options{}); !errors.Is(err, ctl.ErrSecret) {
		t.Errorf("got %v, want %v", err, ctl.ErrSecret)
	}
	p.words.await(t, "netdelta agent: 192.0.2.1:")
	p.words.await(t, " was refused: wrong secret")
	open := x.way
	open.Secret, open.Insecure = ctl.Secret{}, true
	for range 30 {
		if _, err := ctl.Dial(t.Context(), "b", open, ctl.Options{}); !errors.Is(err, ctl.ErrSecretWanted) {
			t.Errorf("got %v, want %v", err, ctl.ErrSecretWanted)
		}
	}
	p.words.await(t, "came with --insecure, this agent asks for a secret")
	p.words.await(t, "more were refused")
	p.end(t, syscall.SIGTERM)
	if n := strings.Count(p.words.text.String(), "\n"); n != 11 {
		t.Errorf("%d lines about 31 refusals, want 11:\n%s", n, p.words.text.String())
	}
}

// Insecure on both ends is served, and the agent says what that means.
func TestAgentInsecure(t *testing.T) {
	x := newTwoHosts(t)
	p := x.start(t, "--insecure")
	if !strings.Contains(p.served, "INSECURE") {
		t.Errorf("got %q", p.served)
	}
	if _, err := ctl.Dial(t.Context(), "b", x.way, ctl.Options{}); !errors.Is(err, ctl.ErrInsecureAgent) {
		t.Errorf("got %v, want %v", err, ctl.ErrInsecureAgent)
	}
	x.way.Secret, x.way.Insecure = ctl.Secret{}, true
	x.dial(t)
}
