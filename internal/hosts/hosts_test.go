package hosts

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"netdelta/internal/agent"
	"netdelta/internal/ctl"
	"netdelta/internal/result"
	"netdelta/internal/run"
	"netdelta/internal/spec"
)

// served is an agent at a TCP port of loopback.
func served(t *testing.T, cfg agent.Config) (port string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	l, err := ctl.TCP{Addr: "127.0.0.1:" + port, Insecure: true}.Listen(nil)
	if err != nil {
		t.Fatal(err)
	}
	a := agent.New(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- ctl.Serve(ctx, l, ctl.Handler(a)) }()
	t.Cleanup(func() {
		a.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return port
}

func insecure(addr string) Target {
	return Target{Name: addr, Way: ctl.TCP{Addr: addr, Insecure: true}}
}

func connect(t *testing.T, targets ...Target) *Pair {
	t.Helper()
	t.Setenv("NETDELTA_JOURNAL", t.TempDir())
	p, err := Connect(t.Context(), targets, "1.0", ctl.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// One target is the far end, and the near one is in this process.
func TestOneTarget(t *testing.T) {
	port := served(t, agent.Config{Name: "far", Version: "2.0"})
	p := connect(t, insecure("127.0.0.1:"+port))
	if got := p.Remote.Hello(); got.Hostname != "far" || p.Local.Hello().Version != "1.0" {
		t.Errorf("the far end is %+v, the near one %+v", got, p.Local.Hello())
	}
	w := p.Warnings()
	if len(w) != 1 || w[0].Code != "versions-differ" || !strings.Contains(w[0].Text, "netdelta 1.0, the remote one 2.0") {
		t.Errorf("warnings: %v", w)
	}
	envs, err := p.Environments(t.Context())
	if err != nil || len(envs) != 2 || envs[0].End != result.Local || envs[1].End != result.Remote {
		t.Fatalf("%v, %v", envs, err)
	}
	has := func(e result.Environment, name, value string) bool {
		for _, f := range e.Facts {
			if f.Name == name {
				return f.Value == value
			}
		}
		return false
	}
	if !has(envs[1], "host", "far") || !has(envs[1], "agent", "2.0") || !has(envs[0], "agent", "1.0") {
		t.Errorf("environments: %+v", envs)
	}
	path := Path{Pair: p, CPULocal: -1, CPURemote: 3}
	at, err := path.Apply(t.Context(), spec.Variant{})
	if err != nil || at.LocalAddr.String() != "127.0.0.1" || at.RemoteAddr.String() != "127.0.0.1" || at.RemoteCPU != 3 || at.LocalCPU != -1 {
		t.Errorf("path %+v, %v", at, err)
	}
	// Nobody else can reach the near end, so it need not be had alone.
	for range 2 {
		s, err := p.Local.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
}

// That an agent is of a release that counts nothing is told, whatever it calls
// its version.
func TestOlderAgent(t *testing.T) {
	now, old := ctl.Hello{Version: "1.0", Protocol: ctl.Protocol}, ctl.Hello{Version: "1.0", Protocol: ctl.MinProtocol}
	if w := warnings(now, now); len(w) != 0 {
		t.Errorf("of two equal ones: %v", w)
	}
	if w := warnings(now, old); len(w) != 1 || w[0].Code != "older-agent" || !strings.Contains(w[0].Text, "remote end's agent, netdelta 1.0") {
		t.Errorf("got %v", w)
	}
}

// Of two targets the first is the near end, and chooses its own address.
func TestTwoTargets(t *testing.T) {
	near, far := served(t, agent.Config{Name: "near"}), served(t, agent.Config{Name: "far"})
	p := connect(t, insecure("127.0.0.1:"+near), insecure("127.0.0.1:"+far))
	if p.Local.Hello().Hostname != "near" || p.Remote.Hello().Hostname != "far" || len(p.Warnings()) != 0 {
		t.Errorf("local %+v, remote %+v, warnings %v", p.Local.Hello(), p.Remote.Hello(), p.Warnings())
	}
	path := Path{Pair: p}
	if at, err := path.Apply(t.Context(), nil); err != nil || !at.LocalAddr.IsUnspecified() || !at.LocalAddr.Is4() || at.RemoteAddr.String() != "127.0.0.1" {
		t.Errorf("path %+v, %v", at, err)
	}
	// Both were reached at one address, and the path leads to it.
	if at, err := path.remote(); err != nil || !path.loops(run.Path{RemoteAddr: at}) {
		t.Errorf("the path to %v is not taken for loopback, %v", at, err)
	}
	if path.loops(run.Path{RemoteAddr: netip.MustParseAddr("192.0.2.9")}) {
		t.Error("a path to another host is taken for loopback")
	}
	path.DataLocal, path.DataRemote = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	if at, err := path.Apply(t.Context(), nil); err != nil || at.LocalAddr != path.DataLocal || at.RemoteAddr != path.DataRemote {
		t.Errorf("path %+v, %v", at, err)
	}
}

// Both targets that fail are told, in one line.
func TestConnectFails(t *testing.T) {
	t.Setenv("NETDELTA_JOURNAL", t.TempDir())
	port := served(t, agent.Config{Name: "far"})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := free.Addr().String()
	free.Close()
	for _, targets := range [][]Target{
		{insecure(gone)},
		{insecure(gone), insecure("127.0.0.1:" + port)},
		{insecure("127.0.0.1:" + port), insecure(gone)},
	} {
		_, err := Connect(t.Context(), targets, "1.0", ctl.Options{})
		if !errors.Is(err, ctl.ErrRefused) || strings.Count(err.Error(), "nothing listens") != 1 {
			t.Errorf("got %v", err)
		}
	}
	_, err = Connect(t.Context(), []Target{insecure(gone), insecure(gone)}, "1.0", ctl.Options{})
	if err == nil || strings.Count(err.Error(), "nothing listens") != 2 || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// A name stays with the address that it stood for first.
func TestOnce(t *testing.T) {
	port := served(t, agent.Config{Name: "far"})
	o := &once{way: ctl.TCP{Addr: "127.0.0.1:" + port, Insecure: true}}
	c, err := ctl.Dial(t.Context(), "far", o, ctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	at, ok := o.at.(ctl.TCP)
	if !ok || at.Addr != "127.0.0.1:"+port || !at.Insecure {
		t.Errorf("it stays with %+v", o.at)
	}
	if o.String() != "127.0.0.1:"+port {
		t.Errorf("it is called %s", o)
	}
	bad := &once{way: ctl.TCP{Addr: "127.0.0.1:" + port}}
	if err := bad.Check(); err == nil {
		t.Error("a way without a secret is all right")
	}
}

func TestMoved(t *testing.T) {
	p := Path{}
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.7")
	for _, c := range []struct {
		at   netip.Addr
		want bool
	}{{a, false}, {a, false}, {b, true}, {a, false}} {
		if w := p.moved(c.at); (len(w) > 0) != c.want || c.want && w[0].Code != "address-changed" {
			t.Errorf("at %v: %v", c.at, w)
		}
	}
}

// Another address of this host is no other host.
func TestOwnAddress(t *testing.T) {
	port := served(t, agent.Config{Name: "far"})
	p := connect(t, insecure("127.0.0.1:"+port))
	if isOwn(netip.MustParseAddr("192.0.2.250")) || !isOwn(netip.MustParseAddr("127.0.0.1")) || !isOwn(netip.MustParseAddr("::ffff:127.0.0.1")) {
		t.Error("own addresses are mistaken")
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range all { // there may be none but loopback's
		prefix, err := netip.ParsePrefix(own.String())
		if err != nil || prefix.Addr().IsLoopback() || !prefix.Addr().Is4() {
			continue
		}
		path := Path{Pair: p, DataLocal: netip.MustParseAddr("192.0.2.1"), DataRemote: prefix.Addr()}
		at, err := path.Apply(t.Context(), nil)
		if err != nil || len(at.Warnings) != 1 || at.Warnings[0].Code != run.CodeLoopback {
			t.Errorf("%v: %v, %v", prefix, at.Warnings, err)
		}
	}
}

func TestParseData(t *testing.T) {
	for _, c := range []struct{ text, local, remote, wantErr string }{
		{"", "invalid IP", "invalid IP", ""},
		{"192.0.2.2", "invalid IP", "192.0.2.2", ""},
		{"192.0.2.1,192.0.2.2", "192.0.2.1", "192.0.2.2", ""},
		{" 2001:db8::1 , 2001:db8::2 ", "2001:db8::1", "2001:db8::2", ""},
		{"::ffff:192.0.2.2", "invalid IP", "192.0.2.2", ""},
		{"a,b,c", "", "", "give the remote end's address, or LOCAL,REMOTE"},
		{"bench2", "", "", `"bench2" is no IP address`},
		{"192.0.2.1,", "", "", `"" is no IP address`},
		{"0.0.0.0", "", "", "no single host's address"},
		{"ff02::1", "", "", "no single host's address"},
		{"192.0.2.1,2001:db8::2", "", "", "different families"},
	} {
		local, remote, err := ParseData(c.text)
		if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.wantErr)
		}
		if err == nil && (local.String() != c.local || remote.String() != c.remote) {
			t.Errorf("%q: got %v and %v, want %s and %s", c.text, local, remote, c.local, c.remote)
		}
	}
}

func FuzzParseData(f *testing.F) {
	for _, s := range []string{"", "192.0.2.1,192.0.2.2", "fe80::1%eth0", ",", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		local, remote, err := ParseData(s)
		if err == nil && s != "" && !remote.IsValid() {
			t.Errorf("%q: no error and no remote address", s)
		}
		if local.IsValid() && local.Is4() != remote.Is4() {
			t.Errorf("%q: %v and %v", s, local, remote)
		}
	})
}
