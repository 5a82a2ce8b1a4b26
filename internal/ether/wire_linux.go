package ether

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// answerTime is what the wire process has to come up, to answer, and to end.
// It answers within microseconds; this is for a machine that is stuck.
const answerTime = 10 * time.Second

// Wire is a running wire. Its methods may be called from any goroutine.
type Wire struct {
	cmd      *exec.Cmd
	control  *os.File
	warnings []string

	asking  sync.Mutex // one question at a time
	answers chan Stats

	done chan struct{}
	mu   sync.Mutex
	// closing is set before the control socket is closed on purpose.
	closing bool
	err     error
}

// Start starts a wire between two TAPs and returns when frames pass. The
// process has copies of the two descriptors: the caller keeps and closes its
// own, and while it keeps them the TAPs outlive the wire.
func Start(cfg Config) (*Wire, error) {
	s, err := cfg.settings()
	if err != nil {
		return nil, err
	}
	w, err := launch(cfg, s)
	if err != nil {
		return nil, fmt.Errorf("start the wire: %w", err)
	}
	return w, nil
}

func launch(cfg Config, s settings) (*Wire, error) {
	ours, theirs, err := sys.ControlPair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd, err := sys.Reexec(sys.RoleWire, s.args()...)
	if err != nil {
		ours.Close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{theirs, cfg.A, cfg.B}
	cmd.Env = append(os.Environ(), s.environment()...)
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	w := &Wire{cmd: cmd, control: ours, answers: make(chan Stats, 1), done: make(chan struct{})}
	ready := make(chan []string, 1)
	go w.listen(ready)
	select {
	case w.warnings = <-ready:
		return w, nil
	case <-w.done:
		return nil, w.Err()
	case <-time.After(answerTime):
		w.kill(fmt.Errorf("not ready after %v", answerTime))
		return nil, w.Err()
	}
}

// environment is what the wire's Go runtime is told: no collector, whose
// stopping of the world would wait for ever for a thread blocked in a raw
// system call; no signals that preempt; and a P for each such thread and two
// for the rest.
func (s settings) environment() []string {
	threads := 2
	if s.handoff {
		threads = 4
	}
	return []string{
		"GOGC=off",
		"GOMEMLIMIT=off",
		"GODEBUG=asyncpreemptoff=1",
		"GOMAXPROCS=" + strconv.Itoa(threads+2),
	}
}

// listen takes the wire's messages until its end, then waits for the process.
func (w *Wire) listen(ready chan<- []string) {
	reason := w.receive(ready)
	w.control.Close() // for a reason of our own the process still runs: this ends it
	status := w.cmd.Wait()
	w.mu.Lock()
	if !w.closing && w.err == nil {
		w.err = fmt.Errorf("the wire process ended: %w", errors.Join(reason, status))
		if reason == nil && status == nil {
			w.err = errors.New("the wire process ended")
		}
	}
	w.mu.Unlock()
	close(w.done)
}

// receive returns why the wire said that it ends, nil if it said nothing.
func (w *Wire) receive(ready chan<- []string) error {
	p := make([]byte, maxMessage)
	for {
		n, err := w.control.Read(p)
		if err != nil {
			return nil // end of file, or closed here; the exit status says more
		}
		m, err := parseMessage(p[:n])
		if err != nil {
			return err
		}
		switch m.kind {
		case msgReady:
			select {
			case ready <- m.warnings():
			default:
				return errors.New("it said twice that it is ready")
			}
		case msgStats:
			select {
			case w.answers <- m.stats:
			default:
				return errors.New("it sent counts unasked")
			}
		case msgFailed:
			return errors.New(m.text)
		}
	}
}

// Warnings are what the wire could not have but can do without, such as
// locked memory.
func (w *Wire) Warnings() []string { return w.warnings }

// PID is the wire process's number.
func (w *Wire) PID() int { return w.cmd.Process.Pid }

// Done is closed when the wire process has ended.
func (w *Wire) Done() <-chan struct{} { return w.done }

// Err tells why the wire ended without Close; nil while it runs.
func (w *Wire) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Stats takes a snapshot of the counts.
func (w *Wire) Stats() (Stats, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	if _, err := w.control.Write([]byte{askStats}); err != nil {
		return Stats{}, fmt.Errorf("ask the wire for its counts: %w", w.because(err))
	}
	select {
	case s := <-w.answers:
		return s, nil
	case <-w.done:
		return Stats{}, fmt.Errorf("ask the wire for its counts: %w", w.because(os.ErrClosed))
	case <-time.After(answerTime):
		// A late answer would be taken for the next one's.
		w.kill(fmt.Errorf("no answer after %v", answerTime))
		return Stats{}, fmt.Errorf("ask the wire for its counts: %w", w.Err())
	}
}

// because is why the wire ended, or err if it did not.
func (w *Wire) because(err error) error {
	if ended := w.Err(); ended != nil {
		return ended
	}
	return err
}

// Close ends the wire and waits for its process. It returns Err. A second
// call does nothing.
func (w *Wire) Close() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	w.control.Close()
	select {
	case <-w.done:
	case <-time.After(answerTime):
		w.kill(fmt.Errorf("still there %v after it was told to end", answerTime))
	}
	return w.Err()
}

// kill ends the process the hard way and waits for it.
func (w *Wire) kill(why error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = fmt.Errorf("the wire process was killed: %w", why)
	}
	w.mu.Unlock()
	w.cmd.Process.Kill()
	<-w.done
}
