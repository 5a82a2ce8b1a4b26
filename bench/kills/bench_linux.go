package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"netdelta/internal/knob"
	"netdelta/internal/netlab"
	"netdelta/internal/store"
	"netdelta/internal/store/sqlite"
	"netdelta/internal/sys"
)

// victim is who is killed.
type victim string

const (
	run   victim = "run"
	agent victim = "agent"
	both  victim = "both"
)

var victims = []victim{run, agent, both}

// backTime is how long settings may take to be put back.
const backTime = 30 * time.Second

// port is the agent's.
const port = "7117"

// bench is the two hosts and what runs on them.
type bench struct {
	dir    string
	lab    *netlab.Lab
	link   *netlab.Link
	before [2]settings
	agent  *process
}

func newBench(ctx context.Context) (b *bench, err error) {
	b = &bench{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.dir, err = os.MkdirTemp("", "netdelta-kills-"); err != nil {
		return b, err
	}
	if b.lab, err = netlab.New(); err != nil {
		return b, err
	}
	if b.link, err = b.lab.Connect(ctx, netlab.LinkConfig{Kind: netlab.Veth, Context: "napi", WireCPU: sys.NoCPU}); err != nil {
		return b, err
	}
	for i, h := range b.hosts() {
		if b.before[i], err = read(h); err != nil {
			return b, err
		}
	}
	return b, b.startAgent()
}

func (b *bench) hosts() []*netlab.Host { return []*netlab.Host{b.lab.A, b.lab.B} }

// journal is that of one host.
func (b *bench) journal(h *netlab.Host) string { return filepath.Join(b.dir, "journal-"+h.Name) }

func (b *bench) store() string { return filepath.Join(b.dir, "kept.db") }

func (b *bench) close() error {
	var errs []error
	if b.agent != nil {
		b.agent.kill()
	}
	if b.lab != nil {
		errs = append(errs, b.lab.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

// start runs netdelta on a host.
func (b *bench) start(h *netlab.Host, args ...string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(exe, append([]string{program}, args...)...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "NETDELTA_JOURNAL="+b.journal(h))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := h.NS.Start(p.cmd); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

func (b *bench) startAgent() error {
	p, err := b.start(b.lab.B, "agent", "--insecure", "--settings", "--listen", b.link.AddrB().String()+":"+port)
	if err != nil {
		return err
	}
	b.agent = p
	return p.await("serves")
}

// startRun begins a run that changes settings at both ends.
func (b *bench) startRun() (*process, error) {
	args := []string{"ab", b.link.AddrB().String() + ":" + port, "--insecure", "--store", b.store(), "--reconnect", "1s",
		"--tests", "udp_rr,tcp_rr", "--blocks", "1000", "--time", "50ms", "--warmup", "5ms", "--counters", "none"}
	return b.start(b.lab.A, append(args, factors()...)...)
}

// round kills once, and looks at what is left.
func (b *bench) round(ctx context.Context, who victim, i int, rng *rand.Rand) (o outcome, err error) {
	o.rounds = 1
	p, err := b.startRun()
	if err != nil {
		return o, err
	}
	defer p.kill()
	mark := b.agent.size()
	// Half a second is what it takes to begin, so that some kills come before
	// anything is changed.
	time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
	select {
	case <-p.done:
		return o, fmt.Errorf("the run had ended before the kill: %w: %s", p.err, p.text())
	default:
	}
	if who != agent {
		p.kill()
	}
	if who != run {
		b.agent.kill()
	}
	for _, h := range b.hosts() {
		s, err := read(h)
		if err != nil {
			return o, err
		}
		if s != b.before[index(h)] {
			o.changed++
			break
		}
	}
	begun := time.Now()
	if who == agent {
		// The run sees that its far end has gone, and ends in order.
		select {
		case <-p.done:
		case <-time.After(backTime):
			return o, errors.New("the run did not end when its agent had gone")
		}
	}
	for _, h := range b.hosts() {
		if left, err := knob.Pending(b.journal(h)); err == nil {
			for _, e := range left {
				if !e.Held {
					o.journalled++
				}
			}
		}
	}
	if who != run {
		if err := b.startAgent(); err != nil {
			return o, err
		}
	}
	if who != agent {
		if err := b.recover(i); err != nil {
			return o, err
		}
	}
	err = b.back(ctx)
	o.slowest = time.Since(begun)
	finished := 0
	if who == run {
		finished = b.agent.trials(mark)
	}
	kept, reading := b.kept(ctx)
	o.finished, o.kept = max(finished-1, 0), kept
	if finished-1 > kept {
		reading = errors.Join(reading, fmt.Errorf("the agent prepared %d trials, and %d are kept", finished, kept))
	}
	return o, errors.Join(err, reading)
}

func index(h *netlab.Host) int {
	if h.Name == "a" {
		return 0
	}
	return 1
}

// recover has the run's host put back what the killed run left there: by the
// command for that, or by beginning another run.
func (b *bench) recover(i int) error {
	args := []string{"restore"}
	if i%2 == 1 {
		args = []string{"run", b.link.AddrB().String() + ":" + port, "--insecure", "--no-store", "--tests", "udp_rr", "--trials", "1", "--time", "50ms", "--wait", "20s"}
	}
	p, err := b.start(b.lab.A, args...)
	if err != nil {
		return err
	}
	<-p.done
	if p.err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], p.err, p.text())
	}
	return nil
}

// back waits until every setting is what it was before, and nothing is
// journalled.
func (b *bench) back(ctx context.Context) error {
	var why error
	for end := time.Now().Add(backTime); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		why = nil
		for i, h := range b.hosts() {
			s, err := read(h)
			if err != nil {
				return err
			}
			left, err := knob.Pending(b.journal(h))
			switch {
			case err != nil:
				return err
			case s != b.before[i]:
				why = errors.Join(why, fmt.Errorf("host %s has %v, and had %v", h.Name, s, b.before[i]))
			case len(left) > 0:
				why = errors.Join(why, fmt.Errorf("host %s has %d entries in its journal", h.Name, len(left)))
			}
		}
		if why == nil {
			return nil
		}
	}
	return why
}

// kept counts the newest run's trials, each of which must be whole and the next
// of the one before, and removes the run.
func (b *bench) kept(ctx context.Context) (int, error) {
	s, err := sqlite.Open(ctx, b.store(), sqlite.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	runs, err := s.Runs(ctx, store.Filter{Limit: 1})
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	n := 0
	for t, err := range s.Trials(ctx, runs[0].ID) {
		if err != nil {
			return n, err
		}
		if t.Order != n {
			return n, fmt.Errorf("the trial after number %d is number %d", n-1, t.Order)
		}
		n++
	}
	return n, s.Remove(ctx, runs[0].ID)
}

// process is one netdelta.
type process struct {
	cmd  *exec.Cmd
	out  log
	done chan struct{}
	err  error // once done is closed
}

// kill ends it by SIGKILL, and returns when it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

func (p *process) text() string { return strings.TrimSpace(p.out.since(0)) }
func (p *process) size() int    { return len(p.out.since(0)) }

// await waits until it has said a word.
func (p *process) await(word string) error {
	for end := time.Now().Add(backTime); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(p.out.since(0), word) {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%v: %w: %s", p.cmd.Args, p.err, p.text())
		default:
		}
	}
	return fmt.Errorf("%v did not say %q: %s", p.cmd.Args, word, p.text())
}

var sessionEnd = regexp.MustCompile(`trials: (\d+)`)

// trials is how many trials the agent's log has of the last session that ended
// since; sessions of restoring runs are not among them, as those come later.
func (p *process) trials(mark int) int {
	s := bufio.NewScanner(strings.NewReader(p.out.since(mark)))
	for s.Scan() {
		if m := sessionEnd.FindStringSubmatch(s.Text()); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits, as the expression says
			return n
		}
	}
	return 0
}

// log collects what a process says.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

var _ io.Writer = (*log)(nil)

// Write takes what is said.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) since(mark int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf.Bytes()[mark:])
}
