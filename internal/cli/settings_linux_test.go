package cli_test

import (
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdelta/internal/cli"
	"netdelta/internal/ctl"
	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/spec"
)

const ttlFile = "/proc/sys/net/ipv4/ip_default_ttl"

// atB is two settings of host b as they are: its interface's MTU and a sysctl of
// its network namespace.
func (x *twoHosts) atB(t *testing.T) (mtu, ttl string) {
	t.Helper()
	err := x.lab.B.NS.Do(func() error {
		device, err := net.InterfaceByName(x.lab.B.Device)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(ttlFile)
		mtu, ttl = strconv.Itoa(device.MTU), strings.TrimSpace(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return mtu, ttl
}

func (x *twoHosts) wantAtB(t *testing.T, mtu, ttl string) {
	t.Helper()
	if m, l := x.atB(t); m != mtu || l != ttl {
		t.Errorf("mtu %s and ttl %s, want %s and %s", m, l, mtu, ttl)
	}
}

// set has the agent on b set both, to what a test finds neither is.
func (x *twoHosts) set(t *testing.T) (*ctl.Client, *ctl.Session, error) {
	t.Helper()
	c := x.dial(t)
	s, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	_, err = s.Set(t.Context(), ctl.Settings{End: spec.EndRemote, Addr: x.link.AddrB(), Peer: x.link.AddrA(), List: []spec.Setting{
		{End: spec.EndRemote, Knob: "mtu", Value: "1400"},
		{End: spec.EndRemote, Knob: "sysctl.net.ipv4.ip_default_ttl", Value: "99"},
	}})
	return c, s, err
}

// However an agent or its client dies, what they had set is restored: by the
// agent, by the next one, or by a command. What a live agent holds is let be.
func TestSettingsAreRestored(t *testing.T) {
	x := newTwoHosts(t)
	if err := x.lab.B.NS.Do(func() error { f, err := os.OpenFile(ttlFile, os.O_WRONLY, 0); f.Close(); return err }); err != nil {
		labtest.Skip(t, err)
	}
	mtu, ttl := x.atB(t)
	journal := t.TempDir()
	args := []string{"--secret-file", x.secret, "--settings", "--journal", journal}
	set := func(t *testing.T) (*ctl.Client, *ctl.Session) {
		c, s, err := x.set(t)
		if err != nil {
			t.Fatal(err)
		}
		x.wantAtB(t, "1400", "99")
		return c, s
	}
	restore := func(t *testing.T, says string, more ...string) {
		t.Helper()
		o := in(t, x.lab.B.NS, append([]string{"restore", "--journal", journal}, more...)...)
		o.want(t, cli.ExitDone)
		if strings.Count(o.stdout, says) != 2 || strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stdout, x.lab.B.Device+".mtu=1400") && !strings.Contains(o.stdout, "mtu=1400") {
			t.Errorf("want two lines with %q, got\n%s", says, o.stdout)
		}
	}

	t.Run("the agent is killed and started anew", func(t *testing.T) {
		p := x.start(t, args...)
		if !strings.Contains(p.served, "clients may change settings") {
			t.Errorf("got %q", p.served)
		}
		set(t)
		p.end(t, os.Kill)
		x.wantAtB(t, "1400", "99")
		restore(t, "left ", "--list")
		x.wantAtB(t, "1400", "99")
		p = x.start(t, args...)
		x.wantAtB(t, mtu, ttl) // it serves when it is done
		p.words.await(t, "left in the journal: done ")
		p.end(t, syscall.SIGTERM)
	})
	t.Run("the agent is killed and a command restores", func(t *testing.T) {
		p := x.start(t, args...)
		set(t)
		restore(t, "held ")
		x.wantAtB(t, "1400", "99")
		p.end(t, os.Kill)
		restore(t, "done ")
		x.wantAtB(t, mtu, ttl)
		if o := in(t, x.lab.B.NS, "restore", "--journal", journal); !strings.HasPrefix(o.stdout, "nothing is left") {
			t.Errorf("got %q", o.stdout)
		}
	})
	t.Run("the agent is told to end", func(t *testing.T) {
		p := x.start(t, args...)
		set(t)
		if status := p.end(t, syscall.SIGTERM); status != cli.ExitDone {
			t.Errorf("exit status %d", status)
		}
		x.wantAtB(t, mtu, ttl)
		p.words.await(t, "; restored: ")
	})
	t.Run("the client leaves", func(t *testing.T) {
		p := x.start(t, args...)
		c, s := set(t)
		s.Close()
		p.words.await(t, "its client left; restored: ")
		x.wantAtB(t, mtu, ttl)
		c.Close()
		_, s = set(t)
		if err := s.Unset(t.Context()); err != nil {
			t.Fatal(err)
		}
		x.wantAtB(t, mtu, ttl)
		p.end(t, syscall.SIGTERM)
	})
	t.Run("another process holds it", func(t *testing.T) {
		p := x.start(t, args...)
		set(t)
		x.start(t, append(args, "--listen", ":7200")...)
		y := *x
		y.way.Addr = net.JoinHostPort(x.link.AddrB().String(), "7200")
		began := time.Now()
		if _, _, err := y.set(t); !errors.Is(err, ctl.ErrBusy) || !strings.Contains(err.Error(), `"tester"`) {
			t.Errorf("got %v, want %v with the holder's name", err, ctl.ErrBusy)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("it took %v", d)
		}
		p.end(t, syscall.SIGTERM)
		x.wantAtB(t, mtu, ttl)
	})
}

// An agent that was not started for it changes nothing, and says how it would.
func TestSettingsRefused(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	mtu, ttl := x.atB(t)
	_, s, err := x.set(t)
	if !errors.Is(err, feature.ErrUnavailable) || !strings.Contains(err.Error(), "netdelta agent --settings") {
		t.Errorf("got %v", err)
	}
	x.wantAtB(t, mtu, ttl)
	if _, err := s.Set(t.Context(), ctl.Settings{End: spec.EndRemote}); err != nil {
		t.Errorf("nothing to set: %v", err)
	}
}
