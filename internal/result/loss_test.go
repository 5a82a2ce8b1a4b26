package result

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/spec"
)

// between is a trial of datagrams between two hosts that count what their own
// kernels do.
func between(t testing.TB, sent, received, socket int64, local, remote []Reading) Trial {
	x := balanced(t, sent, received, socket, nil)
	x.Local.Counters, x.Remote.Counters = &Counters{Whole: local}, &Counters{Whole: remote}
	return x
}

func TestBalanceBetweenHosts(t *testing.T) {
	type c = map[string]int64
	one := func(source string, counts c) []Reading { return []Reading{read(source, counts)} }
	for _, x := range []struct {
		name          string
		local, remote []Reading
		socket        int64 // of 100 sent and 60 received; below 0 for not known
		drops         string
		rest          int64
	}{
		{"nobody counted", nil, nil, 10, "", 30},
		{"in the sender's queue", one(SourceQdisc, c{"drops": 30}), nil, 10, "local.qdisc.drops 30 loss_qdisc", 0},
		{"which IP counts too", []Reading{read(SourceSNMP, c{"Ip.OutDiscards": 32}), read(SourceQdisc, c{"drops": 28})}, nil, 10,
			"local.snmp.Ip.OutDiscards 4 loss_stack, local.qdisc.drops 26 loss_qdisc", 0},
		{"others' drops among them", one(SourceDevice, c{"tx_dropped": 500}), nil, 10, "local.device.tx_dropped 30 loss_interface", 0},
		{"at the receiver's interface", nil, one(SourceDevice, c{"rx_missed": 12, "rx_fifo": 12, "rx_errors": 13}), 10,
			"remote.device.rx_missed 12 loss_interface", 18},
		{"in its backlog, which the interface counts too", nil, []Reading{read(SourceDevice, c{"rx_dropped": 25}), read(SourceSoftnet, c{"dropped": 20})}, 10,
			"remote.device.rx_dropped 5 loss_interface, remote.softnet.dropped 20 loss_softnet", 5},
		{"by its stack", nil, one(SourceSNMP, c{"Ip.InDiscards": 3, "Udp.NoPorts": 4, "Udp.RcvbufErrors": 10, "Udp.MemErrors": 2, "Udp.InErrors": 12}), 10,
			"remote.snmp.Ip.InDiscards 3 loss_stack, remote.snmp.Udp.NoPorts 4 loss_stack", 23},
		{"where the socket does not tell", nil, one(SourceSNMP, c{"Udp.RcvbufErrors": 10, "Udp6.MemErrors": 2}), -1,
			"remote.snmp.Udp.RcvbufErrors 10 loss_socket, remote.snmp.Udp6.MemErrors 2 loss_stack", 28},
	} {
		trial := between(t, 100, 60, max(x.socket, 0), x.local, x.remote)
		if x.socket < 0 {
			delete(trial.Remote.Counts, CountSocketDropsAll)
		}
		b, ok := only(&trial)
		var drops []string
		for _, d := range b.Drops {
			drops = append(drops, fmt.Sprintf("%s %d %s", d.Name, d.Packets, d.Cause()))
		}
		if got := strings.Join(drops, ", "); !ok || b.Exact || got != x.drops || b.Rest != x.rest {
			t.Errorf("%s: %q and a rest of %d, want %q and %d; exact %v", x.name, got, b.Rest, x.drops, x.rest, b.Exact)
		}
	}
}

func TestLossByCause(t *testing.T) {
	type c = map[string]int64
	const causes = "unaccounted loss_socket loss_interface loss_softnet loss_qdisc loss_stack loss_wire"
	all := func(end string) []Reading {
		var readings []Reading
		for source, counts := range map[string]c{
			SourceQdisc: {"drops": 5}, SourceDevice: {"tx_dropped": 2, "rx_missed": 4}, SourceSoftnet: {"dropped": 8}, SourceSNMP: {"Udp.NoPorts": 1},
		} {
			readings = append(readings, read(source, counts))
		}
		return readings
	}
	mtu := func(n int64) []Reading {
		r := read(SourceDevice, nil)
		r.Levels = c{"mtu": n}
		return []Reading{r}
	}
	for _, x := range []struct {
		name  string
		trial Trial
		want  string
	}{
		{"in a lab", balanced(t, 100, 50, 10, c{"a.tx_packets": 80, "a.tx_dropped": 20, "wire.a_to_b.drop_other": 15}),
			"unaccounted=0.05 loss_socket=0.1 loss_interface=0.2 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire=0.15"},
		{"on a lab's veth", balanced(t, 100, 50, 50, c{"a.tx_packets": 100}),
			"unaccounted=0 loss_socket=0.5 loss_interface=0 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"between hosts", between(t, 100, 50, 10, all(Local), all(Remote)),
			"unaccounted=0.2 loss_socket=0.1 loss_interface=0.06 loss_softnet=0.08 loss_qdisc=0.05 loss_stack=0.01 loss_wire!not-asked"},
		{"between hosts, dropped by an interface without a queue", between(t, 100, 90, 0,
			[]Reading{read(SourceSNMP, c{"Ip.OutDiscards": 10}), read(SourceDevice, c{"tx_dropped": 10})}, []Reading{read(SourceSNMP, nil), read(SourceDevice, nil)}),
			"unaccounted=0 loss_socket=0 loss_interface=0.1 loss_softnet!not-asked loss_qdisc!not-asked loss_stack=0 loss_wire!not-asked"},
		{"between hosts that counted nothing", balanced(t, 100, 50, 10, nil),
			"unaccounted=0.4 loss_socket=0.1 loss_interface!not-asked loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"nothing sent", balanced(t, 0, 0, 0, nil),
			"unaccounted!nothing-sent loss_socket!nothing-sent loss_interface!nothing-sent loss_softnet!nothing-sent loss_qdisc!nothing-sent loss_stack!nothing-sent loss_wire!nothing-sent"},
		{"not counted", Trial{Test: mustTest(t, "udp_stream"), Remote: &End{}},
			"unaccounted!not-asked loss_socket!not-asked loss_interface!not-asked loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"copies", balanced(t, 100, 103, 0, nil), "unaccounted!counts-disagree loss_socket=0 loss_interface!not-asked loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"fragments in a lab", balanced(t, 100, 40, 20, c{"a.tx_packets": 400}),
			"unaccounted!fragments loss_socket!fragments loss_interface=0 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"fragments between hosts", between(t, 100, 90, 0, mtu(1000), mtu(1000)),
			"unaccounted!fragments loss_socket=0 loss_interface=0 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"one frame each between hosts", between(t, 100, 90, 0, mtu(1024+spec.IPOverhead), mtu(1500)),
			"unaccounted=0.1 loss_socket=0 loss_interface=0 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"a larger header between hosts", between(t, 100, 90, 0, append(mtu(1024+spec.IPOverhead), read(SourceSNMP, c{"Ip6.OutRequests": 100, "Ip.OutRequests": 5})), mtu(1500)),
			"unaccounted!fragments loss_socket=0 loss_interface=0 loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
		{"cut apart late", by("gso", "gro", balanced(t, 100, 37, 1, nil)),
			"unaccounted!drops-of-many loss_socket!drops-of-many loss_interface!not-asked loss_softnet!not-asked loss_qdisc!not-asked loss_stack!not-asked loss_wire!not-asked"},
	} {
		got := figuresOf(&x.trial, strings.Fields(causes)...)
		got = strings.NewReplacer("@remote", "", ",", "", " share", "").Replace(got)
		if got != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.name, got, x.want)
		}
	}
}

// Whatever hosts count, the sum holds, and the shares by cause are no more than
// the whole.
func TestCausesAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Int64Range(0, 50)
		x := balanced(t, n.Draw(r, "sent"), n.Draw(r, "received"), n.Draw(r, "socket"), nil)
		x.Local.Counters, x.Remote.Counters = anyCounters(r), anyCounters(r)
		b, ok := only(&x)
		sum := b.Received + b.SocketDrops + b.Rest
		for _, d := range b.Drops {
			if d.Packets <= 0 {
				r.Fatalf("%+v", d)
			}
			sum += d.Packets
		}
		if !ok || sum != b.Sent || b.Exact {
			r.Fatalf("%+v adds up to %d", b, sum)
		}
		shares := 0.0
		for _, m := range x.Metrics() {
			if m.Name == Unaccounted || strings.HasPrefix(m.Name, "loss_") && m.Name != LossSocket {
				shares += m.Value
			}
		}
		if shares > 1+1e-9 || math.IsNaN(shares) {
			r.Fatalf("%v of what was sent was lost: %+v", shares, b)
		}
	})
}
