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
	"strconv"
	"syscall"
	"time"
)

// run starts the server in one namespace, the client in the other, and ends
// the server when the client is done.
func (r peer) run(ctx context.Context, p place) (figures, error) {
	server := bound(ctx, p.server, p.filled(r.server))
	if err := p.lab.B.NS.Start(server); err != nil {
		return nil, err
	}
	defer func() {
		// The group that we started, in case the server forked.
		syscall.Kill(-server.Process.Pid, syscall.SIGKILL)
		server.Wait()
	}()
	if err := r.listening(ctx, p); err != nil {
		return nil, err
	}
	client := bound(ctx, p.client, p.filled(r.client))
	var out bytes.Buffer
	client.Stdout, client.Stderr = &out, &out
	if err := p.lab.A.NS.Start(client); err != nil {
		return nil, err
	}
	if err := client.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %.500s", err, out.Bytes())
	}
	f, err := r.parse(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w in its output: %.500s", err, out.Bytes())
	}
	return f, nil
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
