package ether_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/ether"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

// roleVictim is a process that starts a wire and is killed.
const roleVictim = "__wire_victim"

// victim makes two TAPs in its namespace and a wire between them, tells the
// wire's process number and waits for its death.
func victim(args []string) int {
	var taps [2]*os.File
	for i, name := range []string{"va", "vb"} {
		var err error
		if taps[i], _, err = tuntap.Open(name, tuntap.Options{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	w, err := ether.Start(ether.Config{A: taps[0], B: taps[1], Handoff: args[0] == "true", CPU: sys.NoCPU})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(w.PID())
	<-w.Done()
	return 1
}

// TestWireGoesWithItsParent kills the parent in a way that leaves it no time
// to clean up.
func TestWireGoesWithItsParent(t *testing.T) {
	inline(t)
	for _, handoff := range []bool{false, true} {
		labtest.NoLeaks(t)
		ns, _ := labtest.Pair(t)
		h := &host{ns: ns}
		cmd, err := sys.Reexec(roleVictim, strconv.FormatBool(handoff))
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := ns.Start(cmd); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		pid, convErr := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || convErr != nil {
			cmd.Process.Kill()
			t.Fatalf("the victim said %q: %v; it ended with %v", line, err, cmd.Wait())
		}
		wire, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(wire)
		if !h.has(t, "va") || !h.has(t, "vb") {
			t.Error("the victim has no TAPs")
		}
		cmd.Process.Kill()
		cmd.Wait()
		waitExit(t, wire)
		if h.has(t, "va") || h.has(t, "vb") {
			t.Error("TAPs outlived their processes")
		}
	}
}

// waitExit waits until a process that may be nobody's child has ended.
func waitExit(t *testing.T, pidfd int) {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 5000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("the process is still there after 5 s (%v)", err)
		}
		return
	}
}

// deleteLink deletes an interface of the thread's namespace (rtnetlink(7)).
func deleteLink(index int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	e := binary.NativeEndian
	msg := e.AppendUint32(nil, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	msg = e.AppendUint16(msg, unix.RTM_DELLINK)
	msg = e.AppendUint16(msg, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	msg = append(msg, make([]byte, 8)...) // sequence, port
	msg = append(msg, make([]byte, 4)...) // family, type
	msg = e.AppendUint32(msg, uint32(index))
	msg = append(msg, make([]byte, 8)...) // flags, change
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 1024)
	n, err := unix.Read(fd, answer)
	if err != nil {
		return err
	}
	if code := int32(e.Uint32(answer[:n][unix.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("delete interface %d: %w", index, unix.Errno(-code))
	}
	return nil
}
