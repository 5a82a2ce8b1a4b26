package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
	"netdelta/internal/traffic"
	"netdelta/internal/worker"
)

// tool is one row of a comparison.
type tool struct {
	name    string
	missing func() error
	// rate is round trips per second over one run.
	rate func(context.Context, place) (float64, error)
}

// ours is netdelta's own instrument, as its agents run it.
func ours(pattern string) tool {
	return tool{name: "netdelta 1 B", rate: func(ctx context.Context, p place) (rate float64, err error) {
		test, err := spec.NewTest(pattern, spec.Params{Size: 1})
		if err != nil {
			return 0, err
		}
		cfg := traffic.Config{Test: test, Warmup: p.length / 10, Window: p.length}
		remote, port, err := start(ctx, p.lab.B.NS, cfg, result.Remote, p.link.AddrB(), p.server)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, remote.Close()) }()
		local, own, err := start(ctx, p.lab.A.NS, cfg, result.Local, p.link.AddrA(), p.client)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, local.Close()) }()
		if err := remote.Arm(ctx, netip.AddrPortFrom(p.link.AddrA(), own)); err != nil {
			return 0, err
		}
		if err := local.Arm(ctx, netip.AddrPortFrom(p.link.AddrB(), port)); err != nil {
			return 0, err
		}
		if _, err := remote.Run(ctx); err != nil {
			return 0, err
		}
		end, err := local.Run(ctx)
		if err != nil {
			return 0, err
		}
		if _, err := remote.Drain(ctx); err != nil {
			return 0, err
		}
		return float64(end.Messages) / end.Elapsed.Seconds(), nil
	}}
}

func start(ctx context.Context, ns *sys.NetNS, cfg traffic.Config, role string, addr netip.Addr, cpu int) (*worker.Worker, uint16, error) {
	cfg.Role, cfg.Addr, cfg.CPU = role, addr, cpu
	w, err := worker.Start(ns)
	if err != nil {
		return nil, 0, err
	}
	port, err := w.Prepare(ctx, cfg)
	if err != nil {
		return nil, 0, errors.Join(err, w.Close())
	}
	return w, port, nil
}

// peer is another tool's row.
type peer struct {
	name    string
	program string
	server  []string
	port    uint16 // where the server listens, TCP or UDP
	udp     bool
	client  func(p place) []string
	// parse turns the client's output into a rate.
	parse func(out []byte) (float64, error)
}

// peers is the table of other tools with the pattern.
func peers(pattern string) []tool {
	var table []peer
	seconds := func(p place) string { return strconv.Itoa(max(1, int(p.length.Seconds()))) }
	switch pattern {
	case "udp_rr":
		table = []peer{
			{name: "qperf udp_lat 1 B", program: "qperf", server: []string{"qperf"}, port: 19765,
				client: func(p place) []string {
					return []string{"qperf", "-t", seconds(p), "-m", "1", p.link.AddrB().String(), "udp_lat"}
				}, parse: qperfRate},
			{name: "sockperf UDP 14 B", program: "sockperf", server: []string{"sockperf", "server", "-i", "ADDR"}, port: 11111, udp: true,
				client: func(p place) []string {
					return []string{"sockperf", "ping-pong", "-i", p.link.AddrB().String(), "-m", "14", "-t", seconds(p)}
				}, parse: sockperfRate},
			{name: "netperf UDP_RR 1 B", program: "netperf", server: []string{"netserver", "-D"}, port: 12865,
				client: func(p place) []string {
					return []string{"netperf", "-P", "0", "-v", "0", "-H", p.link.AddrB().String(), "-l", seconds(p), "-t", "UDP_RR"}
				}, parse: netperfRate},
		}
	case "tcp_rr":
		table = []peer{
			{name: "qperf tcp_lat 1 B", program: "qperf", server: []string{"qperf"}, port: 19765,
				client: func(p place) []string {
					return []string{"qperf", "-t", seconds(p), "-m", "1", p.link.AddrB().String(), "tcp_lat"}
				}, parse: qperfRate},
			{name: "sockperf TCP 14 B", program: "sockperf", server: []string{"sockperf", "server", "--tcp", "-i", "ADDR"}, port: 11111,
				client: func(p place) []string {
					return []string{"sockperf", "ping-pong", "--tcp", "-i", p.link.AddrB().String(), "-m", "14", "-t", seconds(p)}
				}, parse: sockperfRate},
			{name: "netperf TCP_RR 1 B", program: "netperf", server: []string{"netserver", "-D"}, port: 12865,
				client: func(p place) []string {
					return []string{"netperf", "-P", "0", "-v", "0", "-H", p.link.AddrB().String(), "-l", seconds(p), "-t", "TCP_RR"}
				}, parse: netperfRate},
		}
	}
	tools := make([]tool, len(table))
	for i, row := range table {
		tools[i] = row.tool()
	}
	return tools
}

func (r peer) tool() tool {
	return tool{
		name: r.name,
		missing: func() error {
			for _, program := range []string{r.program, r.server[0], "taskset"} {
				if _, err := exec.LookPath(program); err != nil {
					return err
				}
			}
			return nil
		},
		rate: r.run,
	}
}

// run starts the server in one namespace, the client in the other, and ends
// the server when the client is done.
func (r peer) run(ctx context.Context, p place) (float64, error) {
	args := append([]string(nil), r.server...)
	for i, a := range args {
		if a == "ADDR" {
			args[i] = p.link.AddrB().String()
		}
	}
	server := bound(ctx, p.server, args)
	if err := p.lab.B.NS.Start(server); err != nil {
		return 0, err
	}
	defer func() {
		// The group that we started, in case the server forked.
		syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
		server.Wait()
	}()
	if err := r.listening(ctx, p); err != nil {
		return 0, err
	}
	client := bound(ctx, p.client, r.client(p))
	var out bytes.Buffer
	client.Stdout, client.Stderr = &out, &out
	if err := p.lab.A.NS.Start(client); err != nil {
		return 0, err
	}
	if err := client.Wait(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out.Bytes())
	}
	rate, err := r.parse(out.Bytes())
	if err != nil {
		return 0, fmt.Errorf("%w in its output: %s", err, out.Bytes())
	}
	return rate, nil
}

func bound(ctx context.Context, cpu int, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(cpu)}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// listening waits until the server has its port: until it can no longer be
// bound. Connecting would be a client that some servers then serve.
func (r peer) listening(ctx context.Context, p place) error {
	at := netip.AddrPortFrom(p.link.AddrB(), r.port)
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		up := false
		err := p.lab.B.NS.Do(func() error {
			var c io.Closer
			var err error
			if r.udp {
				c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
			} else {
				c, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
			}
			if err == nil {
				c.Close()
			}
			up = errors.Is(err, syscall.EADDRINUSE)
			return nil
		})
		if err != nil {
			return err
		}
		if up {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("the server does not listen on port %d", r.port)
}

var (
	qperfLatency  = regexp.MustCompile(`latency\s*=\s*([0-9.]+) (ns|us|ms|sec)`)
	sockperfValid = regexp.MustCompile(`\[Valid Duration\] RunTime=([0-9.]+) sec; SentMessages=\d+; ReceivedMessages=(\d+)`)
	netperfNumber = regexp.MustCompile(`(?m)^\s*([0-9.]+)\s*$`)
)

// qperfRate: qperf prints half of the mean round trip.
func qperfRate(out []byte) (float64, error) {
	m := qperfLatency.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("no latency")
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil || v <= 0 {
		return 0, errors.New("no latency")
	}
	scale := map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "sec": 1}[string(m[2])]
	return 1 / (2 * v * scale), nil
}

func sockperfRate(out []byte) (float64, error) {
	m := sockperfValid.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("no valid duration")
	}
	t, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil || t <= 0 {
		return 0, errors.New("no run time")
	}
	n, err := strconv.ParseFloat(string(m[2]), 64)
	return n / t, err
}

func netperfRate(out []byte) (float64, error) {
	m := netperfNumber.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("no rate")
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
