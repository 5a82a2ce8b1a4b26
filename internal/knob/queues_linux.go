package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/spec"
)

// queueKind is a file that each of an interface's queues has in sysfs
// (sysfs-class-net-queues of the kernel's ABI documents).
type queueKind struct {
	queues string // "rx-"
	file   string
	// cpus says that it is a mask of CPUs, or else it is a number.
	cpus bool
}

var (
	rpsCPUs  = queueKind{"rx-", "rps_cpus", true}
	rpsFlows = queueKind{"rx-", "rps_flow_cnt", false}
	xpsCPUs  = queueKind{"tx-", "xps_cpus", true}
)

// queueSetting is one such file of all queues.
type queueSetting struct {
	place Place
	knob  string
	kind  queueKind
}

func openRPS(p Place, s spec.Setting, _ string) (Control, error) { return openQueues(p, s, rpsCPUs) }

func openRPSFlows(p Place, s spec.Setting, _ string) (Control, error) {
	return openQueues(p, s, rpsFlows)
}

func openXPS(p Place, s spec.Setting, _ string) (Control, error) { return openQueues(p, s, xpsCPUs) }

func openQueues(p Place, s spec.Setting, kind queueKind) (Control, error) {
	if err := checkDevice(p); err != nil {
		return nil, gone(p, err)
	}
	c := queueSetting{p, s.Knob, kind}
	if _, err := c.parts(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c queueSetting) ID() string { return settingID(c.place, c.knob) }

func (c queueSetting) names() ([]string, error) {
	all, err := c.place.list(deviceFile(c.place, "queues"))
	if err != nil {
		return nil, gone(c.place, err)
	}
	var names []string
	for _, n := range all {
		if strings.HasPrefix(n, c.kind.queues) {
			names = append(names, n)
		}
	}
	return names, nil
}

func (c queueSetting) path(queue string) string {
	return deviceFile(c.place, "queues/"+queue+"/"+c.kind.file)
}

// parts reads the file of every queue.
func (c queueSetting) parts() ([]part, error) {
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, unavailable(c.knob+" of "+c.place.Device, "list its queues", "an interface that has queues, and a kernel with CONFIG_RPS and CONFIG_XPS", "", nil)
	}
	var parts []part
	for _, queue := range names {
		text, err := c.place.readFile(c.path(queue))
		if err != nil {
			return nil, c.failed("read "+c.kind.file+" of "+queue, err)
		}
		if c.kind.cpus {
			cpus, err := cpusOfMask(text)
			if err != nil {
				return nil, fmt.Errorf("%s of %s, queue %s: %w", c.knob, c.place.Device, queue, err)
			}
			text = cpuList(cpus)
		}
		parts = append(parts, part{queue, text})
	}
	sortParts(parts)
	return parts, nil
}

// Read returns the one value of all queues, or "rx-0:0-1 rx-1:none".
func (c queueSetting) Read(context.Context) (string, error) {
	parts, err := c.parts()
	return joinParts(parts), err
}

// Write refuses CPUs that are not online before it changes the first queue.
func (c queueSetting) Write(_ context.Context, value string) error {
	return c.set(value, func(cpus []int) error {
		online, err := c.place.readFile(onlineCPUs)
		if err != nil {
			return err
		}
		return checkOnline(cpus, online)
	})
}

// set writes each queue's value, if the CPUs in it are right.
func (c queueSetting) set(value string, check func(cpus []int) error) error {
	names, err := c.names()
	if err != nil {
		return err
	}
	parts, err := splitParts(value, names)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", c.knob, c.place.Device, err)
	}
	sortParts(parts)
	for i, q := range parts {
		if !c.kind.cpus {
			continue
		}
		cpus, err := spec.ParseCPUs(q.value)
		if err == nil {
			err = check(cpus)
		}
		if err == nil {
			parts[i].value, err = cpuMask(cpus)
		}
		if err != nil {
			return fmt.Errorf("%s of %s: %w", c.knob, c.place.Device, err)
		}
	}
	for _, q := range parts {
		if err := c.place.writeFile(c.path(q.name), q.value); err != nil {
			return c.failed("write "+c.kind.file+" of "+q.name, err)
		}
	}
	return nil
}

// onlineCPUs is the list of the CPUs that run.
const onlineCPUs = cpuRoot + "/online"

// Restore asks nothing of the CPUs: what was set may name some that are offline.
func (c queueSetting) Restore(ctx context.Context, was string) error {
	is, err := c.Read(ctx)
	if err != nil || is == was {
		return err
	}
	return c.set(was, func([]int) error { return nil })
}

// Equal compares CPUs as sets. Tables have room for a power of two of flows, to
// which the kernel rounds up.
func (c queueSetting) Equal(read, asked string) bool {
	if read == asked {
		return true
	}
	if c.kind.cpus {
		asked, err := canonicalCPUs(asked)
		return err == nil && read == asked
	}
	n, err := strconv.ParseUint(asked, 10, 31)
	return err == nil && n > 0 && read == strconv.FormatUint(1<<bits.Len64(n-1), 10)
}

func (c queueSetting) failed(tried string, err error) error {
	err = gone(c.place, err)
	switch {
	case errors.Is(err, errGone):
		return err
	case c.kind == xpsCPUs && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP)):
		// What the kernel says of an interface with one queue (xps_cpus_show in
		// net/core/net-sysfs.c).
		return unavailable(c.knob+" of "+c.place.Device, tried, "an interface with several transmit queues", "", err)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP):
		return unavailable(c.knob+" of "+c.place.Device, tried, "a kernel with CONFIG_RPS", "", err)
	}
	return forbidden(c.place, c.knob, err)
}
