package netlab

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"netdelta/internal/sys"
)

// isSteered tells whether the context steers packets to the backlog of one CPU.
func (k *Link) isSteered() bool {
	return k.cfg.Kind == Ether && etherContextOf(k.cfg.Context).Steered
}

// verifySteering reads back where a steered link's packets go, and what all CPUs
// have taken in before the first of them.
func (k *Link) verifySteering(h *Host) error {
	if !k.isSteered() {
		return nil
	}
	cpu, err := k.cfg.steersTo()
	if err != nil {
		return err
	}
	fs, err := h.NS.OpenSysfs()
	if err != nil {
		return err
	}
	if err := errors.Join(fs.CheckSteered(h.Device, cpu), fs.Close()); err != nil {
		return err
	}
	k.seen, err = takenIn()
	return err
}

// steered checks that a steered link's first packets, one each way at least, were
// taken in by the CPU that they were to go to. Other traffic of the machine can
// hide that they were not, and none can make it look so.
func (k *Link) steered() error {
	if !k.isSteered() {
		return nil
	}
	cpu, err := k.cfg.steersTo()
	if err != nil {
		return err
	}
	now, err := takenIn()
	if err != nil {
		return err
	}
	before, known := k.seen[cpu]
	if _, still := now[cpu]; !known || !still {
		return fmt.Errorf("CPU %d, to which packets are steered, is not in %s: it is offline", cpu, softnetFile)
	}
	if n := now[cpu] - before; n < 2 {
		return fmt.Errorf("CPU %d has taken in %d packets since they are steered to it, and two hosts have received: the kernel steers them not", cpu, n)
	}
	return nil
}

// softnetFile counts the packets that each CPU took in, over all network namespaces.
const softnetFile = "/proc/net/softnet_stat"

// takenIn reads the file's first column, and its 13th, the CPU's number. Before
// Linux 5.10 there is none, and the lines are the online CPUs' in order: the
// process may use all of them, or the numbers are taken for theirs.
func takenIn() (map[int]uint32, error) {
	text, err := os.ReadFile(softnetFile)
	if err != nil {
		return nil, err
	}
	return parseTakenIn(string(text), sys.OnlineCPUs)
}

func parseTakenIn(text string, online func() ([]int, error)) (map[int]uint32, error) {
	const number = 12
	n := map[int]uint32{}
	row := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		taken, err := strconv.ParseUint(f[0], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", softnetFile, row+1, err)
		}
		cpu := row
		if len(f) > number {
			at, err := strconv.ParseUint(f[number], 16, 31)
			if err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", softnetFile, row+1, err)
			}
			cpu = int(at)
		} else if cpus, err := online(); err == nil && row < len(cpus) {
			cpu = cpus[row]
		}
		n[cpu] = uint32(taken)
		row++
	}
	return n, nil
}
