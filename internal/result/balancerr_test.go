package result

import (
	"reflect"
	"strings"
	"testing"

	"netdelta/internal/spec"
)

// asked is a trial of udp_rr with what each end sent, received and dropped.
func asked(t testing.TB, local, remote [3]int64, path map[string]int64) Trial {
	counts := func(n [3]int64) map[string]int64 {
		return map[string]int64{CountSentAll: n[0], CountReceivedAll: n[1], CountSocketDropsAll: n[2]}
	}
	return Trial{Test: mustTest(t, "udp_rr"), Local: End{Role: Local, Counts: counts(local)},
		Remote: &End{Role: Remote, Counts: counts(remote)}, Path: Path{Counts: path}}
}

func TestBalancesOfRoundTrips(t *testing.T) {
	type c = map[string]int64
	forth := func(b Balance) Balance { b.From, b.To = Local, Remote; return b }
	back := func(b Balance) Balance { b.From, b.To = Remote, Local; return b }
	for _, x := range []struct {
		name  string
		trial Trial
		want  []Balance
		share string
		warns string
	}{
		{"nothing lost", asked(t, [3]int64{100, 100, 0}, [3]int64{100, 100, 0}, c{"a.tx_packets": 101, "b.tx_packets": 100}),
			[]Balance{forth(Balance{Sent: 100, Received: 100, Others: 1, Exact: true}), back(Balance{Sent: 100, Received: 100, Exact: true})},
			"unaccounted=0", ""},
		{"lost everywhere", asked(t, [3]int64{100, 31, 4}, [3]int64{50, 50, 10}, c{
			"a.tx_packets": 80, "a.tx_dropped": 20, "wire.a_to_b.drop_ring_full": 15, "b.rx_dropped": 25,
			"b.tx_packets": 45, "b.tx_dropped": 5, "wire.b_to_a.drop_refused": 7, "a.rx_dropped": 3}),
			[]Balance{forth(Balance{Sent: 100, Received: 50, SocketDrops: 10, Exact: true,
				Drops: []Drop{{"a.tx_dropped", 20}, {"wire.a_to_b.drop_ring_full", 15}, {"b.rx_dropped", 5}}}),
				back(Balance{Sent: 50, Received: 31, SocketDrops: 4, Exact: true,
					Drops: []Drop{{"b.tx_dropped", 5}, {"wire.b_to_a.drop_refused", 7}, {"a.rx_dropped", 3}}})},
			"unaccounted=0", ""},
		{"answers missing with no trace", asked(t, [3]int64{100, 91, 0}, [3]int64{100, 100, 0}, c{"a.tx_packets": 100, "b.tx_packets": 100}),
			[]Balance{forth(Balance{Sent: 100, Received: 100, Exact: true}), back(Balance{Sent: 100, Received: 91, Rest: 9, Exact: true})},
			"unaccounted=0.045", "9 of 100 answers"},
		{"too many requests", asked(t, [3]int64{100, 102, 0}, [3]int64{102, 102, 0}, c{"a.tx_packets": 100, "b.tx_packets": 102}),
			[]Balance{forth(Balance{Sent: 100, Received: 102, Rest: -2, Exact: true}), back(Balance{Sent: 102, Received: 102, Exact: true})},
			"unaccounted!counts-disagree", "2 more requests than the 100"},
		{"between hosts", asked(t, [3]int64{100, 70, 1}, [3]int64{90, 90, 2}, nil),
			[]Balance{forth(Balance{Sent: 100, Received: 90, SocketDrops: 2, Rest: 8}), back(Balance{Sent: 90, Received: 70, SocketDrops: 1, Rest: 19})},
			"unaccounted=0.1421", ""},
	} {
		if got := x.trial.Balances(); !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", x.name, got, x.want)
		}
		got := strings.NewReplacer("@local", "", " share", "").Replace(figuresOf(&x.trial, Unaccounted))
		if !strings.HasPrefix(got, x.share) {
			t.Errorf("%s: %s, want %s", x.name, got, x.share)
		}
		warnings := x.trial.unaccountedFor()
		if (len(warnings) == 1) != (x.warns != "") || x.warns != "" && !strings.Contains(warnings[0].Text, x.warns) {
			t.Errorf("%s: warnings %v, want %q", x.name, warnings, x.warns)
		}
	}
}

// The hosts' counters on the way back are the other end's.
func TestBalanceBackBetweenHosts(t *testing.T) {
	x := asked(t, [3]int64{100, 60, 0}, [3]int64{90, 90, 0}, nil)
	x.Local.Counters = &Counters{Whole: []Reading{read(SourceQdisc, map[string]int64{"drops": 4}), read(SourceSoftnet, map[string]int64{"dropped": 6})}}
	x.Remote.Counters = &Counters{Whole: []Reading{read(SourceQdisc, map[string]int64{"drops": 5})}}
	all := x.Balances()
	if len(all) != 2 {
		t.Fatal(all)
	}
	if got, want := all[0].Drops, []Drop{{"local.qdisc.drops", 4}}; !reflect.DeepEqual(got, want) || all[0].Rest != 6 {
		t.Errorf("forth %+v", all[0])
	}
	if got, want := all[1].Drops, []Drop{{"remote.qdisc.drops", 5}, {"local.softnet.dropped", 6}}; !reflect.DeepEqual(got, want) || all[1].Rest != 19 {
		t.Errorf("back %+v", all[1])
	}
	if got := all[1].Drops[1].Cause(); got != LossSoftnet {
		t.Errorf("the local end's backlog is %s", got)
	}
}

// A record that does not have whole trials, and one with a stream beside it, has
// no balance, and no row for one.
func TestRoundTripsWithoutBalance(t *testing.T) {
	full := func() Trial { return asked(t, [3]int64{100, 100, 0}, [3]int64{100, 100, 0}, nil) }
	old := full()
	delete(old.Local.Counts, CountReceivedAll)
	alone := full()
	alone.Remote = nil
	beside := full()
	beside.Test.Params.Load = "tcp_stream"
	icmp := full()
	icmp.Test = spec.Test{Name: "icmp_echo"}
	for name, x := range map[string]Trial{"an old record": old, "one end": alone, "a stream beside it": beside, "ICMP": icmp} {
		told, _ := x.Tells()
		if all := x.Balances(); all != nil || told[Taken{Unaccounted, Local}] || len(x.unaccountedFor()) != 0 {
			t.Errorf("%s: %+v, told %v", name, all, told[Taken{Unaccounted, Local}])
		}
	}
	fragments := asked(t, [3]int64{10, 10, 0}, [3]int64{10, 10, 0}, map[string]int64{"a.tx_packets": 10, "b.tx_packets": 30})
	if all := fragments.Balances(); len(all) != 2 || !all[0].Exact || all[1].Exact || !all[1].Several {
		t.Errorf("fragments of answers: %+v", all)
	}
}
