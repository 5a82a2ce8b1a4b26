package sys

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// NoCPU as a CPU number leaves the choice to the scheduler.
const NoCPU = -1

// PinThread locks the calling goroutine to its thread and the thread to one
// CPU, numbered from 0; NoCPU only locks.
func PinThread(cpu int) error {
	runtime.LockOSThread()
	if cpu == NoCPU {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		if known := CheckCPU(cpu); known != nil {
			err = known
		}
		return fmt.Errorf("bind a thread to CPU %d (sched_setaffinity): %w", cpu, err)
	}
	return nil
}

// OnlineCPUs returns the numbers of the CPUs that this process may use.
func OnlineCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read the usable CPUs (sched_getaffinity): %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// mclOnFault is MCL_ONFAULT of linux/mman.h: lock pages when they are first
// touched, rather than touch the whole address space now (mlockall(2)).
const mclOnFault = 4

// LockMemory keeps the process's pages in memory, those to come too. It fails
// with EPERM or ENOMEM where RLIMIT_MEMLOCK is short and CAP_IPC_LOCK missing.
func LockMemory() error {
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | mclOnFault); err != nil {
		return fmt.Errorf("lock memory (mlockall): %w", err)
	}
	return nil
}
