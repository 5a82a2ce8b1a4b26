package counters

import "time"

// clockSource tells of the machine's wall clock.
type clockSource struct {
	known  bool
	offset int64 // wall less monotonic, as of the latest sample; ns
	noise  int64 // how far that may be off
	steps  int64
	read   func() (wall, before, after int64)
}

// openClock opens the clocks. Count "step_ns": how far the wall clock was moved
// against the monotonic one, backwards or forwards; slewing moves both alike
// (adjtimex(2)). Steps smaller than the time that it takes to read both, well
// below a microsecond on most machines, are not seen. Levels, where the kernel
// tells: "synchronised" (0 or 1), "frequency_ppb" (the correction of the clock's
// rate), "offset_ns" (what is still to be slewed), "max_error_ns", "leap" (1
// while a leap second is due or under way).
func openClock(*Options) (source, error) { return &clockSource{read: readClocks}, nil }

// readClocks reads the wall clock between two readings of the monotonic one.
func readClocks() (wall, before, after int64) {
	before = now()
	wall = time.Now().UnixNano()
	return wall, before, now()
}

// clockTries is how often the clocks are read: the reading that took least
// counts. A thread that loses its CPU in between would look like a step.
const clockTries = 5

func (c *clockSource) take() (*sample, error) {
	var offset, noise int64
	for i := range clockTries {
		wall, before, after := c.read()
		if took := (after - before + 1) / 2; i == 0 || took < noise {
			offset, noise = wall-(before+(after-before)/2), took
		}
	}
	if moved := max(offset-c.offset, c.offset-offset); !c.known || moved > noise+c.noise {
		if c.known {
			c.steps += moved
		}
		c.known, c.offset, c.noise = true, offset, noise
	} else if noise < c.noise {
		c.offset, c.noise = offset, noise
	}
	x := newSample()
	x.counts["step_ns"] = c.steps
	clockLevels(x.levels)
	return x, nil
}

func (*clockSource) close() error { return nil }
