package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// interrupts are the tracepoints of interrupts' begins and ends, without the
// _entry and _exit of their names: that of devices' handlers, and x86's own
// ones, which other kernels have not.
var interrupts = []string{"irq_handler", "local_timer", "reschedule", "call_function", "call_function_single", "irq_work"}

// Counter counts from Open to Close what every CPU of the machine does,
// whoever has it do it: other hosts of a lab, namespaces and containers too. Its
// methods are not for several threads at once.
type Counter struct {
	coll  *ebpf.Collection
	links []link.Link
	cpus  []int
	raw   []countCpu // by number of CPU, online or not
}

// Open loads the programs and attaches them, which takes some tens of
// milliseconds. The error is a feature.ErrUnavailable that says what is
// missing.
func Open() (*Counter, error) {
	spec, err := loadCount()
	if err != nil {
		return nil, fmt.Errorf("read the programs that count in the kernel: %w", err)
	}
	if err := spread(spec); err != nil {
		return nil, unavailable("read the kernel's types (/sys/kernel/btf/vmlinux)", "a kernel built with CONFIG_DEBUG_INFO_BTF", err)
	}
	c := &Counter{}
	if c.coll, err = load(spec); err != nil {
		return nil, unavailable("load eBPF programs", privilege, err)
	}
	if err := c.begin(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

const privilege = "Linux 5.10, and root, or CAP_BPF and CAP_PERFMON, of the machine itself and not of a user namespace (before Linux 5.11 CAP_SYS_RESOURCE too)"

func unavailable(tried, need string, err error) error {
	if errors.Is(err, unix.EPERM) {
		err = unix.EPERM // without the library's advice, which is for programmers
	}
	return &feature.Error{Feature: "counting by eBPF", Tried: tried, Need: need, Kernel: feature.Kernel().String(), Err: err}
}

// spread has the two programs of interrupts stand once for each pair of
// tracepoints that this kernel has.
func spread(spec *ebpf.CollectionSpec) error {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return err
	}
	for _, end := range []struct{ suffix, program string }{{"_entry", countProgInterruptEntry}, {"_exit", countProgInterruptExit}} {
		program := spec.Programs[end.program]
		delete(spec.Programs, end.program)
		for _, i := range interrupts {
			if _, err := kernel.AnyTypeByName("btf_trace_" + i + end.suffix); err != nil {
				continue
			}
			p := program.Copy()
			p.AttachTo = i + end.suffix
			spec.Programs[p.AttachTo] = p
		}
	}
	return nil
}

// load loads the programs. Kernels before 5.11 count their memory against a
// limit that is too low for them, and say that this is not permitted.
func load(spec *ebpf.CollectionSpec) (*ebpf.Collection, error) {
	coll, err := ebpf.NewCollection(spec)
	if !errors.Is(err, unix.EPERM) {
		return coll, err
	}
	var was unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &was) != nil {
		return nil, err
	}
	all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &all) != nil {
		return nil, err
	}
	coll, err = ebpf.NewCollection(spec)
	return coll, errors.Join(err, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &was))
}

// begin attaches the programs and has each CPU tell what it does.
func (c *Counter) begin() error {
	for name, p := range c.coll.Programs {
		if p.Type() != ebpf.Tracing {
			continue
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return unavailable("attach program "+name, privilege, err)
		}
		c.links = append(c.links, l)
	}
	const run = "run an eBPF program once (BPF_PROG_RUN)"
	if _, err := c.coll.Programs[countProgIdentify].Run(&ebpf.RunOptions{}); err != nil {
		return unavailable(run, privilege, err)
	}
	n, err := ebpf.PossibleCPU()
	if err != nil {
		return unavailable("read how many CPUs there can be", "/sys", err)
	}
	c.raw = make([]countCpu, n)
	for cpu := range n {
		_, err := c.coll.Programs[countProgBegin].Run(&ebpf.RunOptions{CPU: uint32(cpu), Flags: unix.BPF_F_TEST_RUN_ON_CPU})
		switch {
		case errors.Is(err, unix.ENXIO): // offline
		case err != nil:
			return unavailable(fmt.Sprintf("%s on CPU %d", run, cpu), privilege, err)
		default:
			c.cpus = append(c.cpus, cpu)
		}
	}
	return nil
}

// Read tells of the CPUs that were online at Open, in ascending order, and
// when it was that (sys.Nanotime).
func (c *Counter) Read() (cpus []CPU, at int64, err error) {
	// The kernel's clock and this one are the same, CLOCK_MONOTONIC. Where
	// something came between the look at the clock and that at the counts, a
	// look at both anew is nearer.
	for range maxReads {
		at = sys.Nanotime()
		if err := c.coll.Maps[countMapCpus].Lookup(uint32(0), &c.raw); err != nil {
			return nil, 0, fmt.Errorf("read the counts of eBPF programs: %w", err)
		}
		if sys.Nanotime()-at < nearRead {
			break
		}
	}
	cpus = make([]CPU, len(c.cpus))
	for i, n := range c.cpus {
		cpus[i] = c.raw[n].at(at)
		cpus[i].Number = n
	}
	return cpus, at, nil
}

// A look at both takes a few microseconds.
const (
	maxReads = 3
	nearRead = 50_000 // ns
)

// States' clocks and runs, as count.bpf.c has them.
const (
	stateIdle = 1 + iota
	stateTask
	stateInterrupt
	stateSoftirq
)

// at is what a CPU had done by then.
func (r *countCpu) at(now int64) CPU {
	clock := func(state int) int64 {
		t := r.Clock[state]
		if t < 0 { // it runs
			t += now
		}
		return max(t, 0)
	}
	c := CPU{
		Idle: clock(stateIdle), Task: clock(stateTask), Interrupt: clock(stateInterrupt), Interrupts: int64(r.Runs[stateInterrupt]),
		Polls: int64(r.NapiPolls), Work: int64(r.NapiWork),
		Wakeups: int64(r.Wakeups), OwnWakeups: int64(r.OwnWakeups), Switches: int64(r.Switches),
	}
	for i := range c.Softirqs {
		c.Softirqs[i] = Softirq{Time: clock(stateSoftirq + i), Runs: int64(r.Runs[stateSoftirq+i])}
	}
	return c
}

// Close detaches the programs. The kernel does so by itself when the process
// ends, by whatever death: they are held by its descriptors alone.
func (c *Counter) Close() error {
	var all error
	for _, l := range c.links {
		all = errors.Join(all, l.Close())
	}
	c.links = nil
	c.coll.Close()
	if all != nil {
		return fmt.Errorf("detach eBPF programs: %w", all)
	}
	return nil
}
