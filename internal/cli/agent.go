package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
)

// maxSessions is the most that --max-sessions takes: each session can have a
// busy worker.
const maxSessions = 64

// agentFlags holds what the command line gives, before it is checked.
type agentFlags struct {
	security  securityFlags
	listen    string
	dataPorts string
	files     bool
	settings  bool
	commands  bool
	journal   string
	sessions  int
}

func newAgent() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Serve the far end of measurements",
		Long: `Serves this host to clients that know its secret: netdelta run on another
host measures the path between the two, or a third host has two agents
measure the path between them. It serves until SIGTERM or SIGINT; trials
that are under way then are aborted, and their clients are told.

With --settings clients may change settings of this host (offloads, queues,
sysctls ...) while they measure; what they were is in a journal before, and is
restored when the session ends, however it does. What a process that has died
had left changed is restored at the start.

The control port is TCP. Traffic uses UDP and TCP ports of the kernel's
choice, or those of --data-ports.`,
		Example: `  netdelta agent --secret-file /etc/netdelta/secret
  netdelta agent --listen 192.0.2.1:7117 --secret-file secret --data-ports 7118-7150
  sudo netdelta agent --secret-file secret --settings
  netdelta agent --insecure --listen 10.0.0.1`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runAgent(cmd.Context(), f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", fmt.Sprintf(":%d", ctl.DefaultPort), "address and port of the control connection")
	f.security.add(fl)
	fl.BoolVar(&f.files, "files", false, "let clients have any file sent that this process may read (tests with file=)")
	fl.BoolVar(&f.settings, "settings", false, "let clients change settings of this host while they measure (ab with knobs)")
	fl.BoolVar(&f.commands, "commands", false, "let clients have any command run as this process's user, and settings changed: whoever has the secret then has that user")
	fl.StringVar(&f.journal, "journal", "", journalHelp)
	fl.StringVar(&f.dataPorts, "data-ports", "", "range of UDP and TCP ports for the traffic, as in 7118-7150 (default any)")
	fl.IntVar(&f.sessions, "max-sessions", agent.MaxSessions, fmt.Sprintf("sessions at a time, at most %d", maxSessions))
	return cmd
}

func runAgent(ctx context.Context, f agentFlags, stdout, stderr io.Writer) error {
	if _, _, err := ctl.ParseAddr(f.listen); err != nil {
		return usageError("--listen: %w", err)
	}
	ports, err := agent.ParsePorts(f.dataPorts)
	if err != nil {
		return usageError("--data-ports: %w", err)
	}
	if f.sessions < 1 || f.sessions > maxSessions {
		return usageError("--max-sessions: %d is out of range: 1 to %d", f.sessions, maxSessions)
	}
	way, err := f.security.transport(f.listen)
	if err != nil {
		return err
	}

	log := &agentLog{w: stderr}
	recoverSettings(ctx, f.journal, f.settings || f.commands, log.line)
	l, err := way.Listen(func(from net.Addr, why error) {
		log.refusal(time.Now(), fmt.Sprintf("%v was refused: %v", from, why))
	})
	if err != nil {
		return &exitError{ExitUnmeasured, err}
	}
	a := agent.New(agent.Config{Version: versionString(), MaxSessions: f.sessions, DataPorts: ports, Files: f.files,
		Settings: f.settings || f.commands, Commands: f.commands, Journal: f.journal, Log: log.line})
	if _, err := fmt.Fprintf(stdout, "netdelta agent %s serves %v, %s\n", versionString(), l.Addr(), f.secured()); err != nil {
		return errors.Join(&exitError{ExitUnmeasured, fmt.Errorf("tell that the agent serves: %w", err)}, l.Close())
	}
	if err := serveAgent(ctx, a, l); err != nil {
		return &exitError{ExitUnmeasured, err}
	}
	return nil
}

// serveAgent serves until ctx ends. Sessions are ended before their
// connections are, so that clients are told why.
func serveAgent(ctx context.Context, a *agent.Agent, l net.Listener) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		a.Close()
		stop()
	})()
	err := ctl.Serve(serving, l, ctl.Handler(a))
	a.Close()
	return err
}

func (f agentFlags) secured() string {
	text := "secured by a secret"
	if f.security.insecure {
		text = "INSECURE: everyone who can reach this port is served"
	}
	switch {
	case f.commands:
		text += ", clients may change settings and run COMMANDS"
	case f.settings:
		text += ", clients may change settings"
	}
	if f.dataPorts != "" {
		text += ", data ports " + f.dataPorts
	}
	return text
}

// agentLog writes what happens to an agent, each in a line.
type agentLog struct {
	mu    sync.Mutex
	w     io.Writer
	since time.Time // begin of the present period
	told  int       // refusals in it
}

// A port that strangers can reach is knocked at often. Refusals of so many in
// a period are told, so that they do not fill a disk.
const (
	refusalPeriod = time.Minute
	maxRefusals   = 10
)

func (l *agentLog) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// There is nobody to tell that standard error is gone.
	_, _ = fmt.Fprintf(l.w, "netdelta agent: %s\n", oneLine(text))
}

func (l *agentLog) refusal(now time.Time, text string) {
	l.mu.Lock()
	if now.Sub(l.since) > refusalPeriod {
		l.since, l.told = now, 0
	}
	l.told++
	told := l.told
	l.mu.Unlock()
	switch {
	case told <= maxRefusals:
		l.line(text)
	case told == maxRefusals+1:
		l.line(fmt.Sprintf("more were refused; the next is told after %v", refusalPeriod))
	}
}
