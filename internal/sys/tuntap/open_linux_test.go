package tuntap_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
	"netdelta/internal/sys/tuntap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m, nil)) }

// namespace is where a test makes its TAPs.
func namespace(t *testing.T, probes ...feature.Probe) *sys.NetNS {
	t.Helper()
	labtest.Need(t, append(probes, feature.TAP)...)
	ns, err := sys.NewNetNS()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return ns
}

func TestOpenMakesATAPInTheThreadsNamespace(t *testing.T) {
	ns := namespace(t)
	var f *os.File
	err := ns.Do(func() (err error) {
		var name string
		if f, name, err = tuntap.Open("frog", tuntap.Options{}); err != nil {
			return err
		}
		if name != "frog" {
			t.Errorf("name = %q, want frog", name)
		}
		if _, err := net.InterfaceByName("frog"); err != nil {
			t.Errorf("not in its namespace: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.InterfaceByName("frog"); err == nil {
		t.Error("the TAP is in the test's own namespace")
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#x, %v: the descriptor must block", flags, err)
	}
	// A pollable file takes a deadline.
	if err := f.SetReadDeadline(time.Now()); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("SetReadDeadline: %v: the descriptor is known to the netpoller", err)
	}
	f.Close()
	ns.Do(func() error {
		if _, err := net.InterfaceByName("frog"); err == nil {
			t.Error("the TAP outlived its descriptor")
		}
		return nil
	})
}

func TestOpenNumbersAnUnnamedTAP(t *testing.T) {
	ns := namespace(t)
	err := ns.Do(func() error {
		f, name, err := tuntap.Open("", tuntap.Options{})
		if err != nil {
			return err
		}
		defer f.Close()
		if name != "tap0" {
			t.Errorf("name = %q, want tap0", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenOptionsTake(t *testing.T) {
	for _, c := range []struct {
		o     tuntap.Options
		flags uint16
	}{
		{tuntap.Options{}, 0},
		{tuntap.Options{NAPI: true}, unix.IFF_NAPI},
		{tuntap.Options{NAPI: true, NAPIFrags: true}, unix.IFF_NAPI | unix.IFF_NAPI_FRAGS},
		{tuntap.Options{VNetHdr: true}, unix.IFF_VNET_HDR},
		{tuntap.Options{SndBuf: 1 << 20}, 0},
		{tuntap.Options{NAPI: true, VNetHdr: true, SndBuf: 4096}, unix.IFF_NAPI | unix.IFF_VNET_HDR},
	} {
		t.Run(fmt.Sprintf("%+v", c.o), func(t *testing.T) {
			ns := namespace(t, feature.TAPNAPI, feature.VNetHdr)
			err := ns.Do(func() error {
				f, name, err := tuntap.Open("opt", c.o)
				if err != nil {
					return err
				}
				defer f.Close()
				checkOptions(t, f, name, c.o, c.flags)
				return nil
			})
			if c.o.NAPIFrags && errors.Is(err, os.ErrPermission) {
				labtest.Skip(t, err) // root of a user namespace
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// checkOptions asks the kernel what the TAP is.
func checkOptions(t *testing.T, f *os.File, name string, o tuntap.Options, flags uint16) {
	fd := int(f.Fd())
	req, err := unix.NewIfreq(name)
	if err == nil {
		err = unix.IoctlIfreq(fd, unix.TUNGETIFF, req)
	}
	if err != nil {
		t.Error(err) // not Fatal: this is not the test's own goroutine
		return
	}
	const all = unix.IFF_TUN | unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR | unix.IFF_NAPI | unix.IFF_NAPI_FRAGS | unix.IFF_MULTI_QUEUE
	if got, want := req.Uint16()&all, flags|unix.IFF_TAP|unix.IFF_NO_PI; got != want {
		t.Errorf("%+v: flags %#x, want %#x", o, got, want)
	}
	if o.SndBuf != 0 {
		n, err := unix.IoctlGetInt(fd, unix.TUNGETSNDBUF)
		if err != nil || n != o.SndBuf {
			t.Errorf("%+v: send buffer %d, %v", o, n, err)
		}
	}
	if o.VNetHdr {
		n, err := unix.IoctlGetInt(fd, unix.TUNGETVNETHDRSZ)
		if err != nil || n != tuntap.VNetHdrSize {
			t.Errorf("%+v: header of %d bytes, %v", o, n, err)
		}
	}
}

// TestFramesPass writes a frame into a TAP of each kind and receives it from
// the interface.
func TestFramesPass(t *testing.T) {
	// An EtherType for experiments (IEEE 802, local experimental 1), and a
	// destination that is everyone's.
	const experimental = 0x88b5
	frame := bytes.Repeat([]byte{0xff}, 200)
	frame[12], frame[13] = experimental>>8, experimental&0xff
	for _, o := range []tuntap.Options{{}, {NAPI: true}, {NAPI: true, SndBuf: 4096}, {NAPI: true, NAPIFrags: true}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			ns := namespace(t, feature.TAPNAPI)
			err := ns.Do(func() error {
				f, name, err := tuntap.Open("", o)
				if err != nil {
					return err
				}
				defer f.Close()
				if err := setUp(name); err != nil {
					return err
				}
				link, err := net.InterfaceByName(name)
				if err != nil {
					return err
				}
				const proto = experimental>>8 | experimental&0xff<<8 // network byte order
				fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, proto)
				if err != nil {
					return err
				}
				defer unix.Close(fd)
				if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: link.Index}); err != nil {
					return err
				}
				if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}); err != nil {
					return err
				}
				if _, err := f.Write(frame); err != nil {
					return err
				}
				got := make([]byte, 2048)
				n, err := unix.Read(fd, got)
				for err == unix.EINTR {
					n, err = unix.Read(fd, got)
				}
				if err != nil || !bytes.Equal(got[:n], frame) {
					t.Errorf("received %d bytes, %v; want %d", n, err, len(frame))
				}
				return nil
			})
			if o.NAPIFrags && errors.Is(err, os.ErrPermission) {
				labtest.Skip(t, err) // root of a user namespace
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSndBufBounds fills the queue before a NAPI poll in a kernel thread,
// which runs beside the writer.
func TestSndBufBounds(t *testing.T) {
	for _, bound := range []int{4096, 0} {
		ns := namespace(t, feature.TAPNAPI, feature.ThreadedNAPI)
		sysfs, err := ns.OpenSysfs()
		if err != nil {
			t.Fatal(err)
		}
		defer sysfs.Close()
		err = ns.Do(func() error {
			f, _, err := tuntap.Open("queue", tuntap.Options{NAPI: true, SndBuf: bound})
			if err != nil {
				return err
			}
			defer f.Close()
			if err := sysfs.Set("class/net/queue/threaded", "1"); err != nil {
				return err
			}
			if err := setUp("queue"); err != nil {
				return err
			}
			full := false
			for i := 0; i < 20000 && !full; i++ {
				_, e := sys.TryWrite(int(f.Fd()), bytes.Repeat([]byte{0xff}, 1514))
				full = e == unix.EAGAIN
				if e != 0 && !full {
					return e
				}
			}
			if full != (bound != 0) {
				t.Errorf("bound %d: the queue was full: %v", bound, full)
			}
			// Whoever polls is told when there is room.
			for n := 0; full && n < 1000; n++ {
				sys.WaitWritable(int(f.Fd()), int64(5*time.Second))
				_, e := sys.TryWrite(int(f.Fd()), bytes.Repeat([]byte{0xff}, 1514))
				if e != 0 && e != unix.EAGAIN {
					return e
				}
				full = e == unix.EAGAIN
			}
			if full {
				t.Error("the queue stays full")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// setUp sets an interface of the thread's namespace up (netdevice(7)).
func setUp(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	ns := namespace(t)
	ns.Do(func() error {
		f, _, err := tuntap.Open("twice", tuntap.Options{})
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		if _, _, err := tuntap.Open("twice", tuntap.Options{}); !errors.Is(err, unix.EBUSY) {
			t.Errorf("a name in use: %v", err)
		}
		if _, _, err := tuntap.Open("a/b", tuntap.Options{}); !errors.Is(err, unix.EINVAL) {
			t.Errorf("a bad name: %v", err)
		}
		return nil
	})
}

// TestWriteToATAPThatIsDown writes a frame into a TAP whose interface is down: the
// kernel refuses it, so the descriptor is the interface's.
func TestWriteToATAPThatIsDown(t *testing.T) {
	ns := namespace(t)
	ns.Do(func() error {
		f, _, err := tuntap.Open("down", tuntap.Options{})
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		if _, err := f.Write(bytes.Repeat([]byte{0xff}, 60)); !errors.Is(err, unix.EIO) {
			t.Errorf("write = %v, want EIO", err)
		}
		return nil
	})
}
