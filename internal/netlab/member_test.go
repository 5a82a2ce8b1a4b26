//go:build linux

package netlab

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"netdelta/internal/sys"
)

// roleMember is the role of a process that answers what comes by UDP and TCP, and by
// a UDP socket that it has inherited, until its standard input ends.
const roleMember = "__member"

func member(args []string) int {
	err := answerAll(args[0], len(args) > 1)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func answerAll(addr string, inherits bool) error {
	udp, err := net.ListenPacket("udp", net.JoinHostPort(addr, "0"))
	if err != nil {
		return err
	}
	go answerDatagrams(udp)
	tcp, err := net.Listen("tcp", net.JoinHostPort(addr, "0"))
	if err != nil {
		return err
	}
	go answerConnections(tcp)
	if inherits {
		given, err := net.FilePacketConn(os.NewFile(3, "inherited"))
		if err != nil {
			return err
		}
		go answerDatagrams(given)
	}
	fmt.Println("ready", udp.LocalAddr().(*net.UDPAddr).Port, tcp.Addr().(*net.TCPAddr).Port)
	return nil
}

func answerDatagrams(c net.PacketConn) {
	var b [1]byte
	for {
		_, from, err := c.ReadFrom(b[:])
		if err != nil {
			return
		}
		c.WriteTo(b[:], from)
	}
}

// answerConnections closes a connection that ends with a 1, or else waits for the
// other end to close it.
func answerConnections(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			var b [1]byte
			for {
				if _, err := c.Read(b[:]); err != nil || b[0] == 1 {
					return
				}
				c.Write(b[:])
			}
		}()
	}
}

// answering is a member at host b; its ports.
type answering struct{ udp, tcp int }

// startMember starts a member at host b, in b's control group or in that of the test.
func startMember(t *testing.T, k *Link, group, inherited *os.File) answering {
	t.Helper()
	args := []string{k.AddrB().String()}
	if inherited != nil {
		args = append(args, "inherits")
	}
	cmd, err := sys.Reexec(roleMember, args...)
	if err != nil {
		t.Fatal(err)
	}
	if inherited != nil {
		cmd.ExtraFiles = []*os.File{inherited}
	}
	if err := sys.StartIn(cmd, group); err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.lab.B.NS.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	var m answering
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, scanErr := fmt.Sscanf(line, "ready %d %d", &m.udp, &m.tcp); err != nil || scanErr != nil {
		t.Fatalf("member says %q: %v, %v", line, err, scanErr)
	}
	return m
}
