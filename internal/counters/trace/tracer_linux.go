package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
)

// Tracer watches one flow. Its methods are not for several threads at once, but the
// gate may be written by any.
type Tracer struct {
	coll   *ebpf.Collection
	links  []link.Link
	gate   []byte
	reader *ringbuf.Reader
}

const privilege = "Linux 6.3, and root, or CAP_BPF and CAP_PERFMON, of the machine itself and not of a user namespace"

func unavailable(tried, need string, err error) error {
	if errors.Is(err, unix.EPERM) {
		err = unix.EPERM // without the library's advice, which is for programmers
	}
	return &feature.Error{Feature: "tracing by eBPF", Tried: tried, Need: need, Kernel: feature.Kernel().String(), Err: err}
}

// calls are the programs at the entry and the exit of system calls: every call on the
// machine takes a little longer while they are there.
var calls = []string{traceProgSysEnter, traceProgSysExit}

// Open loads the programs and attaches them, which takes some tens of milliseconds;
// withCalls also those that see the traffic threads' system calls begin and end. The
// error is a feature.ErrUnavailable that says what is missing.
func Open(withCalls bool) (*Tracer, error) {
	spec, err := loadTrace()
	if err != nil {
		return nil, fmt.Errorf("read the programs that trace in the kernel: %w", err)
	}
	if !withCalls {
		for _, name := range calls {
			delete(spec.Programs, name)
		}
	}
	if err := drop(spec); err != nil {
		return nil, err
	}
	t := &Tracer{}
	if t.coll, err = ebpf.NewCollection(spec); err != nil {
		return nil, unavailable("load eBPF programs", privilege, err)
	}
	if err := t.begin(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// optional are programs without which less is known, at tracepoints that a kernel may have
// been built without.
var optional = []string{traceProgSysEnter, traceProgSysExit, traceProgIrqHandlerEntry, traceProgIrqHandlerExit}

// drop leaves out what this kernel has no tracepoint for, if that can be done without.
func drop(spec *ebpf.CollectionSpec) error {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return unavailable("read the kernel's types (/sys/kernel/btf/vmlinux)", "a kernel built with CONFIG_DEBUG_INFO_BTF", err)
	}
	for name, p := range spec.Programs {
		if p.Type != ebpf.Tracing {
			continue
		}
		if _, err := kernel.AnyTypeByName("btf_trace_" + p.AttachTo); err == nil {
			continue
		} else if !slices.Contains(optional, name) {
			return unavailable("find the tracepoint "+p.AttachTo, "Linux 6.3, which has all of them", err)
		}
		delete(spec.Programs, name)
	}
	return nil
}

func (t *Tracer) begin() error {
	var err error
	if t.reader, err = ringbuf.NewReader(t.coll.Maps[traceMapEvents]); err != nil {
		return unavailable("read a ring of events", privilege, err)
	}
	if t.gate, err = unix.Mmap(t.coll.Maps[".data.gate"].FD(), 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return unavailable("map a variable of eBPF programs", "Linux 5.5", err)
	}
	if err := t.coll.Variables[traceVarSends].Set([4]uint32{unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_WRITE, unix.SYS_WRITE}); err != nil {
		return fmt.Errorf("tell eBPF programs which calls send: %w", err)
	}
	for name, p := range t.coll.Programs {
		if p.Type() != ebpf.Tracing {
			continue
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return unavailable("attach program "+name, privilege, err)
		}
		t.links = append(t.links, l)
	}
	return nil
}

// Watch says which flow is watched.
func (t *Tracer) Watch(f Flow) error {
	w := traceFlow{Family: unix.AF_INET, Protocol: uint32(f.Protocol)}
	for i, end := range []netip.AddrPort{f.From, f.To} {
		addr := end.Addr().Unmap()
		if addr.Is6() {
			w.Family = unix.AF_INET6
		}
		b := addr.AsSlice()
		for k := range len(b) / 4 {
			w.Addr[i][k] = binary.NativeEndian.Uint32(b[4*k:])
		}
		w.Port[i] = uint32(end.Port())
	}
	if err := t.coll.Variables[traceVarWatched].Set(w); err != nil {
		return fmt.Errorf("tell eBPF programs what to watch: %w", err)
	}
	return nil
}

// Gate is the word, in the machine's order, that says since when a round trip is
// watched (sys.Nanotime); 0 while none is.
func (t *Tracer) Gate() []byte { return t.gate[:8] }

// Enlist has the calling thread's system calls seen from its first on, and not only
// once it has been woken for an answer.
func (t *Tracer) Enlist() error {
	if _, err := t.coll.Programs[traceProgIdentify].Run(&ebpf.RunOptions{}); err != nil {
		return unavailable("run an eBPF program once (BPF_PROG_RUN)", privilege, err)
	}
	return nil
}

// Events are all that happened so far and were not told of yet, in the order of their
// times of each CPU; lost is for how many there was no room.
func (t *Tracer) Events() (all []Event, lost int64, err error) {
	if err := t.reader.Flush(); err != nil {
		return nil, 0, fmt.Errorf("read a ring of events: %w", err)
	}
	var r ringbuf.Record
	for {
		err := t.reader.ReadInto(&r)
		if errors.Is(err, ringbuf.ErrFlushed) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read a ring of events: %w", err)
		}
		e, err := decode(r.RawSample)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, e)
	}
	var missed uint64
	if err := t.coll.Variables[traceVarLost].Get(&missed); err != nil {
		return nil, 0, fmt.Errorf("read how many events were lost: %w", err)
	}
	return all, int64(missed), nil
}

// decode reads a struct event of trace.bpf.c (traceEvent).
func decode(raw []byte) (e Event, err error) {
	const size = 56
	if len(raw) < size {
		return e, fmt.Errorf("decode an event: it has %d bytes, and is to have %d", len(raw), size)
	}
	order := binary.NativeEndian
	name, _, _ := bytes.Cut(raw[40:size], []byte{0})
	return Event{
		At: int64(order.Uint64(raw)), Due: int64(order.Uint64(raw[8:])), Since: int64(order.Uint64(raw[16:])),
		Kind: Kind(order.Uint16(raw[24:])), Leg: int(order.Uint16(raw[26:])), CPU: int(order.Uint16(raw[28:])), Context: Context(order.Uint16(raw[30:])),
		Thread: int(order.Uint32(raw[32:])), Earlier: int(order.Uint32(raw[36:])),
		Task: string(name),
	}, nil
}

// Close detaches the programs. The kernel does so by itself when the process ends, by
// whatever death: they are held by its descriptors alone.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	var all error
	for _, l := range t.links {
		all = errors.Join(all, l.Close())
	}
	if t.reader != nil {
		all = errors.Join(all, t.reader.Close())
	}
	if t.gate != nil {
		all = errors.Join(all, unix.Munmap(t.gate))
	}
	t.links, t.reader, t.gate = nil, nil, nil
	t.coll.Close()
	if all != nil {
		return fmt.Errorf("detach eBPF programs: %w", all)
	}
	return nil
}

// ringBytes is the size of the ring that events go through, as trace.bpf.c has it.
const ringBytes = 1 << 22

// Filling says that the ring is more than half full, so that Events is to be asked before
// the next round trip that may be long.
func (t *Tracer) Filling() bool { return t.reader.AvailableBytes() > ringBytes/2 }

// Available says whether Open would be allowed to load its programs, without attaching
// any; nil, or a feature.ErrUnavailable.
func Available() error {
	spec, err := loadTrace()
	if err != nil {
		return fmt.Errorf("read the programs that trace in the kernel: %w", err)
	}
	if err := drop(spec); err != nil {
		return err
	}
	spec.Programs = map[string]*ebpf.ProgramSpec{traceProgSchedSwitch: spec.Programs[traceProgSchedSwitch]}
	coll, err := ebpf.NewCollection(spec)
	if err != nil {
		return unavailable("load eBPF programs", privilege, err)
	}
	coll.Close()
	return nil
}
