//go:build ignore

// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Programs at the kernel's tracepoints that count what each CPU does. The
// kernel lets only programs under the GPL look into its structures, so this
// file, alone of the project's, is offered under that licence or MIT's.
//
// A CPU is at any time in one state: it idles, runs a task, handles an
// interrupt or one kind of softirq. Each state has a clock on each CPU, of which
// the time is taken away when the CPU enters the state, and to which it is added
// when it leaves. So one that runs is negative, and whoever reads it adds the
// time that it is then: a period counts until the moment of reading, however
// long ago it began, and one word says both how long and whether still.
//
// Nothing is locked. A CPU writes to its own memory only; an interrupt that
// comes in the middle of a program for softirqs leaves it as it was, but for its
// own few microseconds, which may then count twice.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

// Helpers by their numbers (bpf-helpers(7), linux/bpf.h), and the one kind of
// map.
static void *(*const map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*const ktime_get_ns)(void) = (void *)5;
static u64 (*const get_current_pid_tgid)(void) = (void *)14;
enum { BPF_MAP_TYPE_PERCPU_ARRAY = 6 };

// What is read of the kernel's threads, wherever it is in the running one's.
struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

enum state { UNKNOWN, IDLE, TASK, INTERRUPT, SOFTIRQ }; // SOFTIRQ and its number
enum { STATES = 16 };                                  // a power of two

struct cpu {
	s64 clock[STATES]; // ns
	u64 runs[STATES];  // of interrupts and softirqs
	u64 napi_polls, napi_work;
	u64 wakeups, own_wakeups, switches;
	u32 state;
	u32 interrupted; // the state that an interrupt came in
	u32 base;        // the state below interrupts and softirqs
	u32 unused;
};

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct cpu *value;
} cpus SEC(".maps");

// own is the process that loaded the programs, as the kernel knows it.
u32 own;

char terms[] SEC("license") = "Dual MIT/GPL";

INLINE struct cpu *this_cpu(void)
{
	u32 zero = 0;
	return map_lookup_elem(&cpus, &zero);
}

INLINE void enter(struct cpu *c, u32 state)
{
	u64 now = ktime_get_ns();
	c->clock[c->state & (STATES - 1)] += now;
	c->clock[state & (STATES - 1)] -= now;
	c->state = state;
}

SEC("tp_btf/softirq_entry")
int softirq_entry(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	u32 state = (SOFTIRQ + ctx[0]) & (STATES - 1);
	c->runs[state]++;
	enter(c, state);
	return 0;
}

SEC("tp_btf/softirq_exit")
int softirq_exit(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (c)
		enter(c, c->base);
	return 0;
}

// These two are loaded once for every pair of tracepoints of interrupts. None
// may come within another, and one that does belongs to the outer.
SEC("tp_btf/irq_handler_entry")
int interrupt_entry(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (!c || c->state == INTERRUPT)
		return 0;
	c->runs[INTERRUPT]++;
	c->interrupted = c->state;
	enter(c, INTERRUPT);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int interrupt_exit(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (!c || c->state != INTERRUPT)
		return 0;
	enter(c, c->interrupted >= SOFTIRQ ? c->interrupted : c->base);
	return 0;
}

SEC("tp_btf/sched_switch") // preempt, prev, next
int sched_switch(u64 *ctx)
{
	struct task_struct *next = (struct task_struct *)ctx[2];
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	c->switches++;
	c->base = next->pid ? TASK : IDLE;
	if (c->state != c->base)
		enter(c, c->base);
	return 0;
}

SEC("tp_btf/sched_wakeup") // task
int sched_wakeup(u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	c->wakeups++;
	if (p->tgid == own)
		c->own_wakeups++;
	return 0;
}

SEC("tp_btf/napi_poll") // napi, work, budget
int napi_poll(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	c->napi_polls++;
	c->napi_work += (u32)ctx[1];
	return 0;
}

// begin is run once on every CPU when the others are attached: one that idles
// since long would tell nothing of itself until it wakes.
SEC("raw_tp/begin")
int begin(u64 *ctx)
{
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	if (!c->base)
		c->base = (u32)get_current_pid_tgid() ? TASK : IDLE;
	if (c->state == UNKNOWN)
		enter(c, c->base);
	return 0;
}

// identify is run once by the process that loaded the programs: the number by
// which it knows itself may be another, of a PID namespace.
SEC("raw_tp/identify")
int identify(u64 *ctx)
{
	own = get_current_pid_tgid() >> 32;
	return 0;
}
