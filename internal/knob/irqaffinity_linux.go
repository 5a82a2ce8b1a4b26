package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/counters"
	"netdelta/internal/spec"
)

// irqAffinity is which CPUs handle the interface's interrupts
// (Documentation/core-api/irq/irq-affinity.rst).
type irqAffinity struct {
	place Place
	// asked and counts are of the last Write: what was set, and how many
	// interrupts there had been before it.
	asked  string
	counts map[string]uint64
}

func openIRQAffinity(p Place, _ spec.Setting, _ string) (Control, error) {
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	c := &irqAffinity{place: p}
	if _, err := c.parts(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *irqAffinity) ID() string { return settingID(c.place, "irq-affinity") }

const interruptsFile = "/proc/interrupts"

// numbers are the device's interrupts: the message-signalled ones, or that of its
// pin, or those that are named after it.
func (c *irqAffinity) numbers() ([]string, error) {
	dirs := []string{deviceFile(c.place, "device")}
	names := []string{c.place.Device}
	// A virtio device gets its interrupts from the one that it is on.
	if kind, err := c.place.readFile(deviceFile(c.place, "device/modalias")); err == nil && strings.HasPrefix(kind, "virtio:") {
		bus := deviceFile(c.place, "device/..")
		dirs = append(dirs, bus)
		below, err := c.place.list(bus)
		if err != nil {
			return nil, gone(c.place, err)
		}
		for _, n := range below {
			if strings.HasPrefix(n, "virtio") {
				names = append(names, n)
			}
		}
	}
	for _, dir := range dirs {
		if found, err := c.place.list(dir + "/msi_irqs"); err == nil && len(found) > 0 {
			return found, nil
		}
	}
	for _, dir := range dirs {
		text, err := c.place.readFile(dir + "/irq")
		if n, bad := strconv.Atoi(text); err == nil && bad == nil && n > 0 {
			return []string{text}, nil
		}
	}
	lines, err := c.lines()
	var found []string
	for _, l := range lines {
		for _, name := range names {
			if counters.NamesWord(l.names, name) {
				found = append(found, l.number)
				break
			}
		}
	}
	return found, err
}

func (c *irqAffinity) lines() ([]interruptLine, error) {
	text, err := c.place.readFile(interruptsFile)
	return interruptLines(text), err
}

func affinityFile(number string) string { return "/proc/irq/" + number + "/smp_affinity_list" }

// parts reads the CPUs of every interrupt.
func (c *irqAffinity) parts() ([]part, error) {
	numbers, err := c.numbers()
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, n := range numbers {
		text, err := c.place.readFile(affinityFile(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just been given up
		}
		if err == nil {
			text, err = canonicalCPUs(text)
		}
		if err != nil {
			return nil, fmt.Errorf("CPUs of interrupt %s of %s: %w", n, c.place.Device, err)
		}
		parts = append(parts, part{n, text})
	}
	if len(parts) == 0 {
		return nil, unavailable("interrupts of "+c.place.Device, "find them in sysfs and "+interruptsFile, "an interface of a device that has some", "", nil)
	}
	sortParts(parts)
	return parts, nil
}

// Read returns the one list of CPUs of all interrupts, or "24:0-1 25:1".
func (c *irqAffinity) Read(context.Context) (string, error) {
	parts, err := c.parts()
	return joinParts(parts), err
}

func (c *irqAffinity) Write(_ context.Context, value string) error {
	cpus, err := spec.ParseCPUs(value)
	if err != nil {
		return fmt.Errorf("irq-affinity of %s: %w", c.place.Device, err)
	}
	online, err := c.place.readFile(onlineCPUs)
	if err == nil {
		err = checkOnline(cpus, online)
	}
	if err == nil {
		err = c.set(cpuList(cpus))
	}
	if err != nil {
		return fmt.Errorf("irq-affinity of %s: %w", c.place.Device, err)
	}
	return nil
}

// set writes each interrupt's list, where it is another.
func (c *irqAffinity) set(value string) error {
	is, err := c.parts()
	if err != nil {
		return err
	}
	lines, err := c.lines()
	if err != nil {
		return err
	}
	c.asked, c.counts = value, map[string]uint64{}
	for _, l := range lines {
		c.counts[l.number] = l.count
	}
	names := make([]string, len(is))
	was := map[string]string{}
	for i, p := range is {
		names[i], was[p.name] = p.name, p.value
	}
	parts, err := splitParts(value, names)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.value == was[p.name] {
			continue
		}
		if err := c.place.writeFile(affinityFile(p.name), p.value); err != nil {
			return refused(p.name, err)
		}
	}
	return nil
}

// refused says why the kernel does not let an interrupt be moved
// (write_irq_affinity in kernel/irq/proc.c).
func refused(number string, err error) error {
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.EPERM) {
		return unavailable("choice of CPUs for interrupt "+number, "write its smp_affinity_list",
			"root, and an interrupt that the kernel does not spread itself (a managed one)", "", err)
	}
	return err
}

// Restore gives each interrupt the CPUs that it had.
func (c *irqAffinity) Restore(_ context.Context, was string) error {
	if err := c.set(was); err != nil {
		return fmt.Errorf("irq-affinity of %s: %w", c.place.Device, err)
	}
	return nil
}

func (c *irqAffinity) Equal(read, asked string) bool {
	if read == asked {
		return true
	}
	asked, err := canonicalCPUs(asked)
	return err == nil && read == asked
}

// Settled says that every interrupt goes where it was sent. Some are moved by the
// kernel when they next arrive, so one that did not arrive is in no wrong place.
func (c *irqAffinity) Settled(context.Context) (bool, error) {
	if c.asked == "" {
		return true, nil
	}
	parts, err := c.parts()
	if err != nil {
		return false, err
	}
	lines, err := c.lines()
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		text, err := c.place.readFile("/proc/irq/" + p.name + "/effective_affinity_list")
		if errors.Is(err, fs.ErrNotExist) || text == "" {
			continue // not every architecture tells
		}
		if err != nil {
			return false, err
		}
		in, err := spec.ParseCPUs(text)
		if err != nil {
			return false, fmt.Errorf("interrupt %s of %s: %w", p.name, c.place.Device, err)
		}
		allowed, err := spec.ParseCPUs(p.value)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(in, func(cpu int) bool { return !slices.Contains(allowed, cpu) }) {
			continue
		}
		for _, l := range lines {
			if l.number == p.name && l.count != c.counts[p.name] {
				return false, nil
			}
		}
	}
	return true, nil
}
