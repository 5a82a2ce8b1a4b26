package result

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func balanced(t testing.TB, sent, received, socket int64, path map[string]int64) Trial {
	return Trial{Test: mustTest(t, "udp_stream"),
		Local: End{Role: Local, Counts: map[string]int64{CountSentAll: sent}},
		Remote: &End{Role: Remote, Counts: map[string]int64{
			CountReceivedAll: received, CountSocketDropsAll: socket}},
		Path: Path{Counts: path}}
}

// only is the balance of a stream, the one that there is.
func only(t *Trial) (Balance, bool) {
	if all := t.Balances(); len(all) == 1 {
		return all[0], true
	}
	return Balance{}, false
}

// by is the trial with methods.
func by(send, recv string, t Trial) Trial {
	t.Test.Params.Send, t.Test.Params.Recv = send, recv
	return t
}

func TestBalance(t *testing.T) {
	for _, c := range []struct {
		name  string
		trial Trial
		want  Balance
		warns string
	}{
		{"dropped at the socket only", balanced(t, 100, 60, 40, map[string]int64{"a.tx_packets": 101}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 60, SocketDrops: 40, Others: 1, Exact: true}, ""},
		{"at every place of an ether link",
			balanced(t, 100, 50, 10, map[string]int64{"a.tx_packets": 80, "a.tx_dropped": 20, "wire.a_to_b.drop_ring_full": 15,
				"wire.a_to_b.drop_refused": 5, "wire.b_to_a.drop_ring_full": 3, "wire.a_to_b.frames_in": 80, "b.rx_packets": 60, "b.tx_dropped": 7, "a.rx_dropped": 7}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 50, SocketDrops: 10, Exact: true, Drops: []Drop{
				{"a.tx_dropped", 20}, {"wire.a_to_b.drop_refused", 5}, {"wire.a_to_b.drop_ring_full", 15}}}, ""},
		{"a backlog's drops are counted at both interfaces",
			balanced(t, 100, 70, 0, map[string]int64{"a.tx_packets": 70, "a.tx_dropped": 30, "b.rx_dropped": 30}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 70, Drops: []Drop{{"a.tx_dropped", 30}}, Exact: true}, ""},
		{"drops at the receiver's interface alone",
			balanced(t, 100, 70, 0, map[string]int64{"a.tx_packets": 100, "b.rx_dropped": 30}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 70, Drops: []Drop{{"b.rx_dropped", 30}}, Exact: true}, ""},
		{"other packets among the drops",
			balanced(t, 100, 70, 0, map[string]int64{"a.tx_packets": 71, "a.tx_dropped": 32}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 70, Drops: []Drop{{"a.tx_dropped", 32}}, Others: 3, OtherDrops: 2, Exact: true}, ""},
		{"the wire makes copies",
			balanced(t, 100, 102, 0, map[string]int64{"a.tx_packets": 100, "wire.a_to_b.duplicated": 2, "wire.b_to_a.duplicated": 5}),
			Balance{From: Local, To: Remote, Sent: 100, Copies: 2, Received: 102, Exact: true}, ""},
		{"a copy of what was none of the test's",
			balanced(t, 100, 101, 0, map[string]int64{"a.tx_packets": 101, "wire.a_to_b.duplicated": 2}),
			Balance{From: Local, To: Remote, Sent: 100, Copies: 1, Received: 101, Others: 1, Exact: true}, ""},
		{"a copy is missing",
			balanced(t, 100, 101, 0, map[string]int64{"a.tx_packets": 100, "wire.a_to_b.duplicated": 2}),
			Balance{From: Local, To: Remote, Sent: 100, Copies: 2, Received: 101, Rest: 1, Exact: true}, "1 of 100 datagrams"},
		{"missing with no trace", balanced(t, 100, 93, 0, map[string]int64{"a.tx_packets": 100}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 93, Rest: 7, Exact: true}, "7 of 100 datagrams"},
		{"gone before the interface", balanced(t, 100, 93, 0, map[string]int64{"a.tx_packets": 93}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 93, Rest: 7, Exact: true}, "7 of 100 datagrams"},
		{"more than was sent", balanced(t, 100, 102, 0, map[string]int64{"a.tx_packets": 101}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 102, Others: 1, OtherDrops: 1, Rest: -1, Exact: true}, "1 more datagrams than the 100"},
		{"in fragments", balanced(t, 100, 40, 0, map[string]int64{"a.tx_packets": 400, "a.tx_dropped": 200}),
			Balance{From: Local, To: Remote, Sent: 100, Received: 40, Drops: []Drop{{"a.tx_dropped", 200}}, Rest: -140, Several: true}, ""},
		{"many counted as one at the link", by("gso", "recv", balanced(t, 100, 37, 0, map[string]int64{"a.tx_packets": 1, "a.tx_dropped": 1})),
			Balance{From: Local, To: Remote, Sent: 100, Received: 37, Drops: []Drop{{"a.tx_dropped", 1}}, Rest: 62, Several: true}, ""},
		{"sent as one, dropped one by one", by("gso", "recv", balanced(t, 100, 37, 63, map[string]int64{"a.tx_packets": 2})),
			Balance{From: Local, To: Remote, Sent: 100, Received: 37, SocketDrops: 63, Exact: true}, ""},
		{"many counted as one at the socket", by("write", "gro", balanced(t, 100, 37, 1, map[string]int64{"a.tx_packets": 100})),
			Balance{From: Local, To: Remote, Sent: 100, Received: 37, SocketDrops: 1, Rest: 62, Several: true}, ""},
		{"missing as one with no trace", by("gso", "gro", balanced(t, 100, 37, 0, map[string]int64{"a.tx_packets": 2})),
			Balance{From: Local, To: Remote, Sent: 100, Received: 37, Rest: 63, Exact: true}, "63 of 100 datagrams"},
		{"a path that is not ours", balanced(t, 100, 93, 2, nil), Balance{From: Local, To: Remote, Sent: 100, Received: 93, SocketDrops: 2, Rest: 5}, ""},
	} {
		got, ok := only(&c.trial)
		if !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, %v; want %+v", c.name, got, ok, c.want)
		}
		warnings := c.trial.unaccountedFor()
		if (len(warnings) == 1) != (c.warns != "") || (len(warnings) == 1 && !strings.Contains(warnings[0].Text, c.warns)) {
			t.Errorf("%s: warnings %v, want %q", c.name, warnings, c.warns)
		}
	}

	noDrops := balanced(t, 100, 93, 0, map[string]int64{"a.tx_packets": 100})
	delete(noDrops.Remote.Counts, CountSocketDropsAll)
	if b, ok := only(&noDrops); !ok || b.Exact || b.Rest != 7 {
		t.Errorf("with no word of the socket's drops: %+v, %v", b, ok)
	}
	other := balanced(t, 1, 0, 0, nil)
	other.Test = mustTest(t, "tcp_stream")
	alone := balanced(t, 1, 0, 0, nil)
	alone.Remote = nil
	uncounted := balanced(t, 1, 0, 0, nil)
	uncounted.Local.Counts = nil
	for name, x := range map[string]Trial{"of TCP": other, "with one end": alone, "without counts": uncounted} {
		if b, ok := only(&x); ok {
			t.Errorf("a trial %s has the balance %+v", name, b)
		}
	}
}

// Whatever is counted, the sum holds.
func TestBalanceAddsUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Int64Range(0, 50)
		path := map[string]int64{}
		for _, name := range []string{"a.tx_packets", "a.tx_dropped", "b.rx_dropped", "wire.a_to_b.drop_other", "wire.a_to_b.frames_out"} {
			if rapid.Bool().Draw(r, "has "+name) {
				path[name] = n.Draw(r, name)
			}
		}
		x := balanced(t, n.Draw(r, "sent"), n.Draw(r, "received"), n.Draw(r, "socket"), path)
		b, ok := only(&x)
		sum := b.Received + b.SocketDrops - b.OtherDrops + b.Rest
		for _, d := range b.Drops {
			sum += d.Packets
		}
		if !ok || sum != b.Sent || b.OtherDrops < 0 || b.OtherDrops > b.Others {
			r.Fatalf("%+v adds up to %d", b, sum)
		}
	})
}

func TestUnaccountedIsATrialsWarning(t *testing.T) {
	x := balanced(t, 100, 93, 0, map[string]int64{"a.tx_packets": 100})
	for _, w := range x.AllWarnings() {
		if w.Code == unaccounted {
			return
		}
	}
	t.Errorf("not among %v", x.AllWarnings())
}
