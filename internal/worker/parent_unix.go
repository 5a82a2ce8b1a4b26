//go:build linux || darwin || freebsd

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/result"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
)

// reapTime is how long a worker whose control socket has closed may take to
// end by itself.
const reapTime = 2 * time.Second

// Worker is the agent's handle on a worker process. Its methods Prepare, Arm,
// Run and Drain follow one another, each once, Drain only at a remote end.
// They return soon after their context has ended; after that, and after an
// error of the process, only Close is left. Close may be called at any time.
type Worker struct {
	cmd     *exec.Cmd
	control *os.File
	words   words
	gone    chan struct{} // closed when the process has been reaped
	close   sync.Once

	tell    atomic.Pointer[func([]byte)]
	replies chan *reply   // closed when no more can come
	unread  error         // why; set before that
	reading chan struct{} // closed when nothing is read any more

	calling sync.Mutex // held during a call
	role    string
	broken  error // why no more calls are possible
}

// Start starts a worker with all its threads in the network namespace; a nil
// namespace is the caller's.
func Start(ns *sys.NetNS) (*Worker, error) { return StartIn(ns, nil) }

// StartIn is Start with the control group that the worker, and so its sockets, are to
// be in, as sys.StartIn has it.
func StartIn(ns *sys.NetNS, group *os.File) (*Worker, error) {
	cmd, err := sys.Reexec(sys.RoleWorker)
	if err == nil {
		err = sys.StartIn(cmd, group)
	}
	if err != nil {
		return nil, err
	}
	ours, theirs, err := sys.ControlPair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	w := &Worker{
		cmd: cmd, control: ours, gone: make(chan struct{}),
		replies: make(chan *reply, 1), reading: make(chan struct{}),
	}
	cmd.ExtraFiles = []*os.File{theirs} // becomes sys.ControlFD
	cmd.Env = environment()
	cmd.Stderr = &w.words
	cmd.WaitDelay = reapTime
	if err := ns.Start(cmd); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go func() {
		cmd.Wait() // its outcome stays in cmd.ProcessState
		close(w.gone)
	}()
	go w.read()
	return w, nil
}

// read sorts what the process writes: answers, and intervals between them.
func (w *Worker) read() {
	defer close(w.reading)
	defer close(w.replies)
	for {
		r := new(reply)
		if w.unread = readFrame(w.control, r); w.unread != nil {
			return
		}
		if len(r.Interval) > 0 {
			if tell := w.tell.Load(); tell != nil {
				(*tell)(r.Interval)
			}
			continue
		}
		select {
		case w.replies <- r:
		case <-w.gone: // an answer that nobody has asked for
			w.unread = io.EOF
			return
		}
	}
}

// Report has tell called with a result.Live as JSON for each interval of the
// window, as soon as it is over, if the configuration is Live. tell must
// return at once.
func (w *Worker) Report(tell func(interval []byte)) { w.tell.Store(&tell) }

// procs is how many threads of a worker run Go code at a time: the one that
// carries traffic never gives up its place, also when it waits in the kernel,
// and one more is needed beside it.
const procs = 2

// secretVar begins the variable that ctl reads the shared secret from.
const secretVar = "NETDELTA_SECRET="

// environment is this process's with the runtime's settings of a worker, which
// it reads only when it starts. The last of several values counts.
func environment() []string {
	debug := "asyncpreemptoff=1"
	if others := os.Getenv("GODEBUG"); others != "" {
		debug = strings.Join([]string{others, debug}, ",")
	}
	// A worker reads what strangers send: it is not told the secret.
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, secretVar) })
	return append(inherited,
		"GODEBUG="+debug,
		fmt.Sprintf("GOMAXPROCS=%d", procs),
		"GOGC=off",
		"GOMEMLIMIT=off",
	)
}

// PID is the worker's process number.
func (w *Worker) PID() int { return w.cmd.Process.Pid }

// Prepare has the worker make its sockets, and returns their port, 0 where the
// test has none.
func (w *Worker) Prepare(ctx context.Context, cfg traffic.Config) (port uint16, err error) {
	r, err := w.call(ctx, &request{Command: cmdPrepare, Config: &cfg})
	if err != nil {
		return 0, err
	}
	w.role = cfg.Role
	return r.Port, nil
}

// Arm has the worker connect to its peer.
func (w *Worker) Arm(ctx context.Context, peer netip.AddrPort) error {
	_, err := w.call(ctx, &request{Command: cmdArm, Peer: peer})
	return err
}

// Run starts the traffic. At a local end it returns the figures when the window
// is over; at a remote end it returns nil at once.
func (w *Worker) Run(ctx context.Context) (*result.End, error) {
	r, err := w.call(ctx, &request{Command: cmdRun})
	if err != nil {
		return nil, err
	}
	if w.role == result.Local && r.End == nil {
		return nil, fmt.Errorf("worker %d: %s: no figures came", w.PID(), cmdRun)
	}
	return r.End, nil
}

// Drain tells a remote end that the local one has finished, and returns its
// figures.
func (w *Worker) Drain(ctx context.Context) (*result.End, error) {
	r, err := w.call(ctx, &request{Command: cmdDrain})
	if err != nil {
		return nil, err
	}
	if r.End == nil {
		return nil, fmt.Errorf("worker %d: %s: no figures came", w.PID(), cmdDrain)
	}
	return r.End, nil
}

// Close ends the process, whatever it does, and reaps it. It is safe to call
// more than once, and during another call, which then fails.
func (w *Worker) Close() error {
	var err error
	w.close.Do(func() {
		err = w.control.Close()
		// Kill goes by the process, not only its number, and finds out by itself
		// if it has ended.
		if killed := w.cmd.Process.Kill(); killed != nil && !errors.Is(killed, os.ErrProcessDone) {
			err = errors.Join(err, fmt.Errorf("kill worker %d: %w", w.PID(), killed))
		}
	})
	<-w.gone
	<-w.reading
	return err
}

// call sends a command and waits for the answer.
func (w *Worker) call(ctx context.Context, r *request) (*reply, error) {
	w.calling.Lock()
	defer w.calling.Unlock()
	if w.broken != nil {
		return nil, w.broken
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("worker %d: %s: %w", w.PID(), r.Command, context.Cause(ctx))
	}
	answer, err := w.exchange(ctx, r)
	if err != nil {
		err = w.explain(ctx, r.Command, err)
		w.broken = err
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("worker %d: %s: %w", w.PID(), r.Command, answer.Error)
	}
	return answer, nil
}

// exchange ends with the context.
func (w *Worker) exchange(ctx context.Context, r *request) (*reply, error) {
	stop := context.AfterFunc(ctx, func() {
		w.control.SetWriteDeadline(time.Unix(1, 0)) // fails only if closed: as good
	})
	err := writeFrame(w.control, r)
	stop()
	if err != nil {
		return nil, err
	}
	select {
	case answer, ok := <-w.replies:
		if !ok {
			return nil, w.unread
		}
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// explain finds out why a call got no answer.
func (w *Worker) explain(ctx context.Context, command string, err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("worker %d: %s: the worker was closed", w.PID(), command)
	case ctx.Err() != nil:
		return fmt.Errorf("worker %d: %s: %w", w.PID(), command, context.Cause(ctx))
	}
	select {
	case <-w.gone:
		return &diedError{w.PID(), w.cmd.ProcessState.String(), w.words.last()}
	case <-time.After(reapTime):
		return fmt.Errorf("worker %d: %s: %w", w.PID(), command, err)
	}
}
