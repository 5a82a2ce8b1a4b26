//go:build ignore

// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Programs at the kernel's tracepoints that tell when the messages of one flow
// were where. The kernel lets only programs under the GPL look into its
// structures, so this file is offered under that licence or MIT's.
//
// The gate is a word that user space writes: 0, or since when (CLOCK_MONOTONIC)
// a round trip is watched. While it is 0 a program does nothing but look at it.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define KERNEL __attribute__((preserve_access_index))

// Helpers by their numbers (bpf-helpers(7), linux/bpf.h), kinds of maps, and the
// flag that lets nobody be woken for an event.
static void *(*const map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const map_update_elem)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static u64 (*const ktime_get_ns)(void) = (void *)5;
static u32 (*const get_smp_processor_id)(void) = (void *)8;
static u64 (*const get_current_pid_tgid)(void) = (void *)14;
static long (*const get_current_comm)(void *buf, u32 size) = (void *)16;
static long (*const probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static void *(*const ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*const ringbuf_submit)(void *data, u64 flags) = (void *)132;
enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_PERCPU_ARRAY = 6, BPF_MAP_TYPE_RINGBUF = 27, BPF_RB_NO_WAKEUP = 1 };

// What is read of the kernel's structures, wherever it is in the running one's.
struct task_struct {
	int pid;
	char comm[16];
} KERNEL;
struct sk_buff {
	u16 network_header;
	unsigned char *head, *data;
} KERNEL;
struct in6_addr {
	u8 bytes[16]; // of another name in the kernel: only its place is used
};
struct sock_common {
	u32 skc_daddr;
	u16 skc_dport, skc_num, skc_family;
	struct in6_addr skc_v6_daddr;
} KERNEL;
struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
} KERNEL;

// flow is the one that is watched: its two ends, the one that asks first. Ports
// are in the host's order, addresses as they are on the wire.
struct flow {
	u32 family, protocol;
	u32 addr[2][4];
	u32 port[2];
};
struct flow watched SEC(".data.flow");

// gate is alone in its map, which user space has in its memory.
volatile u64 gate SEC(".data.gate");

// lost counts the events for which there was no room.
u64 lost SEC(".data.lost");

// Numbers of the system calls that send and that receive.
enum { CALLS = 4 };
volatile u32 sends[CALLS] SEC(".data.calls");
volatile u32 receives[CALLS] SEC(".data.calls");

enum { AF_INET = 2, AF_INET6 = 10, ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58, FRAGMENT = 44 };
enum { NET_RX = 3 }; // of softirqs

enum kind { QUEUE = 1, XMIT, ARRIVE, RECEIVE, READY, RUN, CALL, RETURN, BACK };
enum context { TASK, SOFTIRQ, HANDLER };

struct event {
	u64 at, first, second; // ns; first and second are 0 where there is none
	u16 kind, leg, cpu, context;
	u32 tid, before;
	char comm[16];
};

struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 22];
} events SEC(".maps");

// Its layout is to be known outside.
struct event *layout __attribute__((unused));

// cpu is what one CPU does.
struct cpu {
	u64 irq;              // since when it handles an interrupt; 0 if it does not
	u64 raised;           // since when NET_RX is due; 0 if it is not
	u64 scheduled, since; // of the NET_RX that runs: when it was due, and began; 0
	u64 switched;         // when the task that runs began to
	u64 ready;            // when our socket got data, until the waking; 0
	u32 leg, unused;
};

struct {
	int (*type)[BPF_MAP_TYPE_PERCPU_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct cpu *value;
} cpus SEC(".maps");

// thread is one that was woken, or that handles frames.
struct thread {
	u64 waking, ready; // ready is 0 for handlers
	u64 away;          // since when it does not run, though nothing has to wake it
	u32 leg, due;
	char comm[16]; // of what runs instead
};

struct {
	int (*type)[BPF_MAP_TYPE_HASH];
	int (*max_entries)[4096];
	u32 *key;
	struct thread *value;
} threads SEC(".maps");

char terms[] SEC("license") = "Dual MIT/GPL";

INLINE struct cpu *this_cpu(void)
{
	u32 zero = 0;
	return map_lookup_elem(&cpus, &zero);
}

INLINE struct event *event(u32 kind, u32 leg)
{
	struct event *e = ringbuf_reserve(&events, sizeof(struct event), 0);
	if (!e) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	e->at = ktime_get_ns();
	e->first = e->second = 0;
	e->kind = kind;
	e->leg = leg;
	e->cpu = get_smp_processor_id();
	e->context = 0;
	e->tid = (u32)get_current_pid_tgid();
	e->before = 0;
	e->comm[0] = 0;
	return e;
}

// sent is the gate as it was when a message was told of last, by leg and kind: of one in
// several packets the first tells when it was sent.
u64 sent[4] SEC(".data.sent");

INLINE void emit_first(u32 kind, u32 leg, u32 place)
{
	u64 *last = &sent[(2 * leg + place) & 3];
	if (*last == gate)
		return;
	*last = gate;
	struct event *e = event(kind, leg);
	if (e)
		ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

INLINE void emit(u32 kind, u32 leg)
{
	struct event *e = event(kind, leg);
	if (e)
		ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

INLINE int same(const u32 *a, const u32 *b, int words)
{
	for (int i = 0; i < words; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

INLINE u32 port_of(const u8 *p) { return (u32)p[0] << 8 | p[1]; }

// NONE is where a packet is not of the flow; else it is in 0, the requests' leg,
// or 1, the answers'.
enum { NONE = 2 };

// leg_of looks at the headers of a packet. One of TCP without data is not of the
// flow's messages.
INLINE u32 leg_of(const unsigned char *l3)
{
	union {
		u8 b[40];
		u32 w[10];
	} ip;
	u8 l4[16];
	int words, header, protocol, length, later = 0;
	const u32 *from, *to;
	if (probe_read_kernel(ip.b, sizeof ip.b, l3))
		return NONE;
	if (watched.family == AF_INET && ip.b[0] >> 4 == 4) {
		words = 1, from = &ip.w[3], to = &ip.w[4];
		header = (ip.b[0] & 15) * 4;
		protocol = ip.b[9];
		length = (int)port_of(&ip.b[2]);
		later = (port_of(&ip.b[6]) & 0x1fff) != 0;
	} else if (watched.family == AF_INET6 && ip.b[0] >> 4 == 6) {
		words = 4, from = &ip.w[2], to = &ip.w[6];
		header = 40;
		protocol = ip.b[6];
		length = 40 + (int)port_of(&ip.b[4]);
		if (protocol == FRAGMENT) {
			if (probe_read_kernel(l4, 8, l3 + header))
				return NONE;
			protocol = l4[0];
			later = (port_of(&l4[2]) & 0xfff8) != 0;
			header += 8;
		}
	} else {
		return NONE;
	}
	if (protocol != watched.protocol)
		return NONE;
	u32 leg;
	int ours, theirs; // addresses match in that leg
	if (words == 1) {
		ours = from[0] == watched.addr[0][0] && to[0] == watched.addr[1][0];
		theirs = from[0] == watched.addr[1][0] && to[0] == watched.addr[0][0];
	} else {
		ours = same(from, watched.addr[0], 4) && same(to, watched.addr[1], 4);
		theirs = same(from, watched.addr[1], 4) && same(to, watched.addr[0], 4);
	}
	if (!ours && !theirs)
		return NONE;
	if (later)
		return ours ? 0 : 1;
	if (probe_read_kernel(l4, sizeof l4, l3 + header))
		return NONE;
	if (protocol == ICMP || protocol == ICMP6) {
		u8 request = protocol == ICMP ? 8 : 128, answer = protocol == ICMP ? 0 : 129;
		if (ours && l4[0] == request)
			return 0;
		return theirs && l4[0] == answer ? 1 : NONE;
	}
	u32 source = port_of(&l4[0]), target = port_of(&l4[2]);
	if (ours && source == watched.port[0] && target == watched.port[1])
		leg = 0;
	else if (theirs && source == watched.port[1] && target == watched.port[0])
		leg = 1;
	else
		return NONE;
	if (protocol == TCP && length && length - header - (l4[12] >> 4) * 4 <= 0)
		return NONE;
	return leg;
}

INLINE u32 leg_sent(struct sk_buff *skb) { return leg_of(skb->head + skb->network_header); }

SEC("tp_btf/net_dev_queue")
int net_dev_queue(u64 *ctx)
{
	if (!gate)
		return 0;
	u32 leg = leg_sent((struct sk_buff *)ctx[0]);
	if (leg != NONE)
		emit_first(QUEUE, leg, 0);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int net_dev_start_xmit(u64 *ctx)
{
	if (!gate)
		return 0;
	u32 leg = leg_sent((struct sk_buff *)ctx[0]);
	if (leg != NONE)
		emit_first(XMIT, leg, 1);
	return 0;
}

SEC("tp_btf/netif_rx")
int netif_rx(u64 *ctx)
{
	if (!gate)
		return 0;
	u32 leg = leg_of(((struct sk_buff *)ctx[0])->data);
	if (leg != NONE)
		emit(ARRIVE, leg);
	return 0;
}

// is_handler says that a thread's name is that of one that handles frames: the
// kernel's napi/..., or rx-handler, of a wire.
INLINE int is_handler(const char *n)
{
	return n[0] == 'n' && n[1] == 'a' && n[2] == 'p' && n[3] == 'i' && n[4] == '/' ||
	       n[0] == 'r' && n[1] == 'x' && n[2] == '-' && n[3] == 'h';
}

SEC("tp_btf/netif_receive_skb")
int netif_receive_skb(u64 *ctx)
{
	if (!gate)
		return 0;
	u32 leg = leg_of(((struct sk_buff *)ctx[0])->data);
	if (leg == NONE)
		return 0;
	struct cpu *c = this_cpu();
	struct event *e = event(RECEIVE, leg);
	if (!e)
		return 0;
	get_current_comm(e->comm, sizeof e->comm);
	if (c && c->since) {
		e->context = SOFTIRQ;
		e->first = c->scheduled;
		e->second = c->since;
	} else if (c && is_handler(e->comm)) {
		struct thread *t = map_lookup_elem(&threads, &e->tid);
		e->context = HANDLER;
		e->second = c->switched;
		if (t)
			e->first = t->waking;
	}
	ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

INLINE int is_flow(struct sock *sk, u32 *leg)
{
	struct sock_common *c = &sk->__sk_common;
	u32 protocol = sk->sk_protocol;
	if (c->skc_family != watched.family || protocol != watched.protocol)
		return 0;
	u32 to[4] = {c->skc_daddr};
	int first = 1, second = 1; // the far end is the flow's first, or second
	if (watched.family == AF_INET) {
		first = to[0] == watched.addr[0][0];
		second = to[0] == watched.addr[1][0];
	} else {
		if (probe_read_kernel(to, sizeof to, &c->skc_v6_daddr))
			return 0;
		first = same(to, watched.addr[0], 4);
		second = same(to, watched.addr[1], 4);
	}
	if (protocol != ICMP && protocol != ICMP6) {
		u32 far = c->skc_dport, own = c->skc_num;
		far = (far & 255) << 8 | far >> 8;
		first = first && far == watched.port[0] && own == watched.port[1];
		second = second && far == watched.port[1] && own == watched.port[0];
	}
	*leg = second;
	return first || second;
}

SEC("tp_btf/sk_data_ready")
int sk_data_ready(u64 *ctx)
{
	u32 leg;
	if (!gate || !is_flow((struct sock *)ctx[0], &leg))
		return 0;
	struct event *e = event(READY, leg);
	struct cpu *c = this_cpu();
	if (c) {
		c->ready = e ? e->at : ktime_get_ns();
		c->leg = leg;
	}
	if (e)
		ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

// The waking that follows at once is that of the thread that waits.
enum { AT_ONCE = 100000 };

SEC("tp_btf/sched_waking")
int sched_waking(u64 *ctx)
{
	if (!gate)
		return 0;
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	u64 now = ktime_get_ns();
	u32 tid = p->pid;
	struct thread t = {now, 0, 0, 0, 0, {}};
	if (c->ready && now - c->ready < AT_ONCE) {
		t.ready = c->ready;
		t.leg = c->leg;
		t.due = 1;
		c->ready = 0;
	} else if (!is_handler(p->comm)) {
		return 0;
	}
	map_update_elem(&threads, &tid, &t, 0);
	return 0;
}

SEC("tp_btf/sched_switch") // preempt, prev, next
int sched_switch(u64 *ctx)
{
	if (!gate)
		return 0;
	struct task_struct *prev = (struct task_struct *)ctx[1], *next = (struct task_struct *)ctx[2];
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	u64 began = c->switched, now = ktime_get_ns();
	c->switched = now;
	c->ready = 0;
	u32 tid = prev->pid;
	struct thread *t = tid ? map_lookup_elem(&threads, &tid) : 0;
	if (t && t->ready) {
		t->away = now;
		probe_read_kernel(t->comm, sizeof t->comm, next->comm);
	}
	tid = next->pid;
	t = tid ? map_lookup_elem(&threads, &tid) : 0;
	if (!t || !t->ready)
		return 0;
	u64 away = t->away;
	t->away = 0;
	if (!t->due) {
		// It had not gone by itself.
		struct event *b = away >= gate ? event(BACK, t->leg) : 0;
		if (b) {
			b->at = now;
			b->first = away;
			b->tid = tid;
			__builtin_memcpy(b->comm, t->comm, sizeof b->comm);
			ringbuf_submit(b, BPF_RB_NO_WAKEUP);
		}
		return 0;
	}
	t->due = 0;
	struct event *e = event(RUN, t->leg);
	if (!e)
		return 0;
	e->at = now;
	e->first = t->waking;
	e->second = began >= gate ? began : 0;
	e->tid = tid;
	e->before = prev->pid;
	probe_read_kernel(e->comm, sizeof e->comm, prev->comm);
	ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/softirq_raise")
int softirq_raise(u64 *ctx)
{
	if (!gate || ctx[0] != NET_RX)
		return 0;
	struct cpu *c = this_cpu();
	if (c && c->raised < gate)
		c->raised = c->irq ? c->irq : ktime_get_ns();
	return 0;
}

// The next two keep what they write true when the gate is shut, too: a softirq
// that began before it opened must not seem to have begun in it.
SEC("tp_btf/softirq_entry")
int softirq_entry(u64 *ctx)
{
	if (!gate || ctx[0] != NET_RX)
		return 0;
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	c->scheduled = c->raised >= gate ? c->raised : 0;
	c->raised = 0;
	c->since = ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int softirq_exit(u64 *ctx)
{
	if (ctx[0] != NET_RX)
		return 0;
	struct cpu *c = this_cpu();
	if (!c)
		return 0;
	c->since = 0;
	c->ready = 0;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int irq_handler_entry(u64 *ctx)
{
	struct cpu *c = gate ? this_cpu() : 0;
	if (c)
		c->irq = ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int irq_handler_exit(u64 *ctx)
{
	struct cpu *c = gate ? this_cpu() : 0;
	if (c)
		c->irq = 0;
	return 0;
}

INLINE int is_in(const volatile u32 *calls, u64 number)
{
	for (int i = 0; i < CALLS; i++)
		if (calls[i] == (u32)number)
			return 1;
	return 0;
}

// of_ours is the leg for which the thread that runs was woken last; NONE if it is
// none of ours.
INLINE u32 of_ours(void)
{
	u32 tid = (u32)get_current_pid_tgid();
	struct thread *t = map_lookup_elem(&threads, &tid);
	return t && t->ready ? t->leg : NONE;
}

SEC("tp_btf/sys_enter") // registers, number
int sys_enter(u64 *ctx)
{
	if (!gate || !is_in(sends, ctx[1]))
		return 0;
	u32 leg = of_ours();
	if (leg != NONE)
		emit(CALL, !leg);
	return 0;
}

SEC("tp_btf/sys_exit") // registers, result
int sys_exit(u64 *ctx)
{
	if (!gate)
		return 0;
	u32 leg = of_ours();
	if (leg != NONE)
		emit(RETURN, leg);
	return 0;
}

// identify makes the thread that runs it one of ours, which is woken for answers.
SEC("raw_tp/identify")
int identify(u64 *ctx)
{
	u32 tid = (u32)get_current_pid_tgid();
	struct thread t = {0, 1, 0, 1, 0, {}};
	map_update_elem(&threads, &tid, &t, 0);
	return 0;
}
