package run

import (
	"context"
	"fmt"
	"net/netip"

	"netdelta/internal/result"
	"netdelta/internal/spec"
)

// Setup makes the path for a variant.
type Setup interface {
	// Apply makes the path fresh, in the same way for every variant. The
	// path is closed before the next is made.
	Apply(context.Context, spec.Variant) (Path, error)
}

// Path is what a variant's trials run over, and where their ends are.
type Path struct {
	// LocalAddr may be unspecified (0.0.0.0 or ::): the local agent then takes
	// its host's address on the way to RemoteAddr.
	LocalAddr, RemoteAddr netip.Addr
	// LocalCPU and RemoteCPU are what the traffic threads are bound to, -1
	// for none.
	LocalCPU, RemoteCPU int
	// LocalCPUs and RemoteCPUs are those of further traffic threads, as
	// traffic.Config has them.
	LocalCPUs, RemoteCPUs []int
	// LocalDevice and RemoteDevice are what the sockets are bound to, empty
	// for none; LocalPort and RemotePort their ports, 0 for any.
	LocalDevice, RemoteDevice string
	LocalPort, RemotePort     uint16
	// Counts reads the link's counters, each only ever rising; nil where the
	// link is not ours.
	Counts func() (map[string]int64, error)
	// Close takes the path down; nil where there is nothing to do.
	Close func() error
	// Fresh says that the path was made for this slot, as its variant's settings
	// of the link have it, and goes with its end. Settings of the hosts are then
	// put back before; between hosts they stay from slot to slot.
	Fresh bool
	// OneMachine says that both ends share this machine's CPUs.
	OneMachine bool
	// Counters, if it is not nil, are the sources that are read on this path
	// rather than the plan's.
	Counters []string
	// BusyThreads names the threads of this machine that the link itself can
	// keep busy, one name for each: "the wire", "host a's NAPI thread".
	BusyThreads []string
	// Warnings hold for every trial on this path.
	Warnings []result.Warning
}

// makePath makes the path of a variant.
func (r *runner) makePath(ctx context.Context, v spec.Variant) error {
	ctx, cancel := context.WithTimeout(ctx, setupBound)
	defer cancel()
	p, err := r.Setup.Apply(ctx, v)
	if err != nil {
		return err
	}
	r.path = &p
	ofLink := settingsOf(&r.Plan, v, func(_ spec.Setting, scope spec.Scope) bool { return scope == spec.OnLink })
	if len(ofLink) > 0 && !p.Fresh {
		// Left alone it would look like a change that did nothing.
		return &settingError{fmt.Errorf("%s: only a lab has a link that is made so", ofLink[0]), true}
	}
	return p.Bind(r.Plan.SettingsOf(v))
}

// closePath takes the path down, if there is one. What was set for it is put back
// before that, where the path is made for each slot, and where not all of it could
// be set.
func (r *runner) closePath(ctx context.Context, undo bool) error {
	p := r.path
	r.path = nil
	if p == nil {
		return nil
	}
	var err error
	if p.Fresh || undo {
		err = r.unset(ctx, false)
	}
	r.near.on, r.far.on = nil, nil
	if p.Close == nil {
		return err
	}
	if closing := p.Close(); closing != nil {
		err = and(err, fmt.Errorf("take the path down: %w", closing))
	}
	return err
}

// noCPU leaves a thread to the scheduler.
const noCPU = -1

// Bind places the traffic threads as settings of the workers say, where they do.
func (p *Path) Bind(settings []spec.Setting) error {
	for _, s := range settings {
		row, _, err := s.Row()
		if err != nil {
			return err
		}
		if row.Scope != spec.OnWorker {
			continue
		}
		cpus, err := spec.ParseCPUs(s.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		first, more := noCPU, []int(nil)
		if len(cpus) > 0 {
			first, more = cpus[0], cpus[1:]
		}
		if s.At(spec.EndLocal) {
			p.LocalCPU, p.LocalCPUs = first, more
		}
		if s.At(spec.EndRemote) {
			p.RemoteCPU, p.RemoteCPUs = first, more
		}
	}
	return nil
}
