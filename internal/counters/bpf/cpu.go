package bpf

// CPU is what one CPU has done since the counting began. Times are in
// nanoseconds, and a period that is under way counts until the moment of
// reading. Idle, Task, Interrupt and the softirqs' times have nothing in common
// and are together all the time that went by.
type CPU struct {
	Number int
	// Idle is the time in which the CPU had nothing to do, Task that in which
	// a thread ran, in user mode or in the kernel.
	Idle, Task int64
	// Interrupt is the time in handlers of interrupts: those of devices, and
	// on x86 the local timer's and those that CPUs send each other.
	Interrupt, Interrupts int64
	// Softirqs are by number, as Kinds names them. Where they can be preempted,
	// as on PREEMPT_RT, time counts until the first preemption. NAPI in a
	// thread of its own is a task.
	Softirqs [len(Kinds)]Softirq
	// Polls are calls of NAPI's poll functions, Work what they say that they
	// handled: packets, mostly.
	Polls, Work int64
	// Wakeups are those of any thread that this CPU has made runnable,
	// OwnWakeups those of this process's. Switches are changes of the thread
	// that runs, to and from the idle one too.
	Wakeups, OwnWakeups, Switches int64
}

// Softirq is how long one kind of softirq was handled, and how often.
type Softirq struct{ Time, Runs int64 }

// Kinds are the softirqs by number (linux/interrupt.h), as /proc/softirqs names
// them but in small letters.
var Kinds = [...]string{"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"}
