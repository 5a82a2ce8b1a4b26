package interop

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

var update = flag.Bool("update", false, "write what is understood of the kept files anew")

// keptFiles are the outputs in testdata, by their path below it.
func keptFiles(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range []string{"peers", "posts"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files in %s, %v", len(files), folder, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all[folder+"/"+filepath.Base(f)] = data
		}
	}
	return all
}

func read(t testing.TB, name string, data []byte) Outcome {
	t.Helper()
	o, err := Read(name, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return o
}

// Everything that is made of every file, line by line, as it was looked at when it was
// written down.
func TestKept(t *testing.T) {
	var b strings.Builder
	files := keptFiles(t)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o := read(t, name, files[name])
		fmt.Fprintf(&b, "%s\n", name)
		for _, x := range o.Tests {
			fmt.Fprintf(&b, "  %s", x.Imported.Test().Name)
			if x.Version != "" {
				fmt.Fprintf(&b, " version %s", x.Version)
			}
			if len(x.Variant) > 0 {
				fmt.Fprintf(&b, " %v", x.Variant)
			}
			fmt.Fprintf(&b, ", lines %d to %d\n", x.Line, x.To)
			for _, f := range x.Figures {
				fmt.Fprintf(&b, "    %s %q %.6g %s, line %d: %s", f.Metric, f.End, f.Value, f.Unit, f.Line, f.Text)
				if f.WidthPct > 0 {
					fmt.Fprintf(&b, " +-%.4g%% wide at %g%%", f.WidthPct, f.LevelPct)
				}
				if len(f.Values) > 0 {
					fmt.Fprintf(&b, " of %d", len(f.Values))
				}
				b.WriteString("\n")
			}
			for _, f := range x.Facts {
				fmt.Fprintf(&b, "    %s: %s\n", f.Name, f.Value)
			}
			for _, w := range x.Warnings {
				fmt.Fprintf(&b, "    ! %s\n", w.Code)
			}
		}
		for _, p := range o.Problems {
			fmt.Fprintf(&b, "  lines %d to %d: %s\n", p.From, p.To, p.Text)
		}
	}
	path := filepath.Join("testdata", "kept.golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-kept +got; if it should differ, run with -update):\n%s", d)
	}
}

// right is a figure that a file has to give, and no other for that metric and end.
type right struct {
	file, test, metric, end string
	values                  []float64
}

const (
	us = 1e3
	ms = 1e6
	mb = 1e6 // Mbit/s
	gb = 1e9
	kb = 1e-6 / 1024 // us/KB
)

// The values of posts that somebody else worked out, and of tools' outputs by their
// command lines. All values of a test that is there several times are listed.
var rights = []right{
	{"case01-netperf-variantA", "TCP_STREAM", "goodput", "remote", []float64{88.03 * mb}},
	{"case01-netperf-variantB", "TCP_STREAM", "goodput", "remote", []float64{3.28 * mb}},
	{"case01-netperf-variantC", "TCP_STREAM", "goodput", "remote", []float64{85.78 * mb}},
	{"case02-netperf-variantA", "TCP_RR", "rate", "local", []float64{22596.51, 22641.20}},
	{"case02-netperf-variantB", "TCP_RR", "rate", "local", []float64{23498.64, 23446.50}},
	{"case02-netperf-variantA", "TCP_STREAM", "goodput", "remote", []float64{9406.44 * mb, 9412.12 * mb}},
	{"case02-netperf-variantB", "TCP_STREAM", "goodput", "remote", []float64{9405.64 * mb, 9407.41 * mb}},
	{"case03-sockperf-variantA", "ping-pong", "half_rtt_mean", "local", []float64{24.571 * us}},
	{"case03-sockperf-variantB", "ping-pong", "half_rtt_mean", "local", []float64{24.965 * us}},
	{"case03-sockperf-variantA", "ping-pong", "half_rtt_p50", "local", []float64{26.743 * us}},
	{"case03-sockperf-variantB", "ping-pong", "half_rtt_p99", "local", []float64{33.482 * us}},
	{"case03-sockperf-variantA", "ping-pong", "half_rtt_p999", "local", []float64{35.910 * us}},
	{"case03-sockperf-variantA", "ping-pong", "half_rtt_stddev", "local", []float64{93.297 * us}},
	{"case03-sockperf-variantB", "ping-pong", "half_rtt_stddev", "local", []float64{5.934 * us}},
	{"case03-sockperf-variantA", "ping-pong", "half_rtt_max", "local", []float64{103294.331 * us}},
	{"case03-sockperf-variantB", "ping-pong", "half_rtt_max", "local", []float64{195.841 * us}},
	{"case04-iperf3-variantA", "tcp", "goodput", "remote", []float64{17.5 * gb}},
	{"case04-iperf3-variantB", "tcp", "goodput", "remote", []float64{13.2 * gb}},
	{"case04-iperf3-variantA", "tcp", "retransmitted", "local", []float64{0}},
	{"case04-iperf3-variantB", "tcp", "retransmitted", "local", []float64{3860}},
	{"case04-sockperf-variantA", "ping-pong", "half_rtt_mean", "local", []float64{67.798 * us}},
	{"case04-sockperf-variantB", "ping-pong", "half_rtt_mean", "local", []float64{48.444 * us}},
	{"case04-sockperf-variantA", "ping-pong", "half_rtt_p50", "local", []float64{65.509 * us}},
	{"case04-sockperf-variantB", "ping-pong", "half_rtt_p99", "local", []float64{57.111 * us}},
	{"case05-iperf3-variantA", "tcp", "goodput", "remote", []float64{25.7 * gb}},
	{"case05-iperf3-variantA", "tcp", "retransmitted", "local", []float64{542}},
	{"case05-iperf3-variantB", "tcp", "goodput", "remote", []float64{11.8 * gb}},
	{"case05-iperf3-variantB", "tcp", "retransmitted", "local", []float64{24093}},
	{"case05-qperf-variantA", "tcp_bw", "goodput", "remote", []float64{8 * 2.82e9}},
	{"case05-qperf-variantB", "tcp_bw", "goodput", "remote", []float64{8 * 1.44e9}},
	{"case05-qperf-variantA", "tcp_lat", "half_rtt_mean", "local", []float64{16.9 * us}},
	{"case05-qperf-variantB", "tcp_lat", "half_rtt_mean", "local", []float64{38.8 * us}},
	{"case05-ntttcp-extra", "connections=64", "throughput", "", []float64{98.39 * gb}},
	{"case06-iperf3-variantA", "udp", "offered", "local", []float64{93.1 * mb}},
	{"case06-iperf3-variantB", "udp", "offered", "local", []float64{93.2 * mb}},
	{"case06-iperf3-variantA", "udp", "loss", "remote", []float64{0}},
	{"case06-iperf3-variantB", "udp", "loss", "remote", []float64{102.0 / 996}},
	{"case06-iperf3-variantA", "udp", "jitter", "remote", []float64{0.081 * ms}},
	{"case06-iperf3-variantB", "udp", "jitter", "remote", []float64{0.093 * ms}},
	{"case06-iperf3json-extra", "udp", "offered", "local", []float64{834711189.017}},
	{"case06-iperf3json-extra", "udp", "loss", "remote", []float64{0.00690276}},
	{"case06-iperf3json-extra", "udp", "jitter", "remote", []float64{0.092 * ms}},
	{"case07-netpipe-variantA.", "latency", "half_rtt_mean", "local", []float64{123 * us}},
	{"case07-netpipe-variantA2", "latency", "half_rtt_mean", "local", []float64{63 * us}},
	{"case07-netpipe-variantB", "latency", "half_rtt_mean", "local", []float64{30 * us}},
	{"case07-netpipe-variantA.", "message=24", "throughput", "", []float64{2.93 * (1 << 20)}},
	{"case07-netpipe-variantA2", "message=24", "throughput", "", []float64{1.47 * (1 << 20)}},
	{"case07-netpipe-variantB", "message=24", "throughput", "", []float64{6.46 * (1 << 20)}},
	{"case08-ping-variantA", "icmp_echo", "loss", "local", []float64{1}},
	{"case08-ping-variantB", "icmp_echo", "loss", "local", []float64{0}},
	{"case08-ping-variantB", "icmp_echo", "rtt_mean", "local", []float64{0.246 * ms}},
	{"case08-ping-variantB", "icmp_echo", "rtt_min", "local", []float64{0.163 * ms}},
	{"case08-ping-variantB", "icmp_echo", "rtt_max", "local", []float64{0.304 * ms}},
	{"case09-qperf-variantA", "tcp_bw", "goodput", "remote", []float64{1016 * mb}},
	{"case09-qperf-variantB", "tcp_bw", "goodput", "remote", []float64{224.8 * mb}},
	{"case09-qperf-variantA", "tcp_lat", "half_rtt_mean", "local", []float64{210 * us}},
	{"case09-qperf-variantB", "tcp_lat", "half_rtt_mean", "local", []float64{223 * us}},
	{"case10-fping-variantA", "icmp_echo", "rtt_mean", "local", []float64{0.39 * ms}},
	{"case10-fping-variantB", "icmp_echo", "rtt_mean", "local", []float64{500 * ms}},
	{"case10-fping-variantC", "icmp_echo", "loss", "local", []float64{0.125}},
	{"case10-fping-variantD", "icmp_echo", "loss", "local", []float64{0.25}},
	{"case10-fping-variantD", "icmp_echo", "rtt_mean", "local", []float64{1501 * ms}},
	{"case11-nuttcp-variantA", "tcp", "goodput", "remote", []float64{4022.0229 * mb}},
	{"case11-nuttcp-variantA", "tcp", "retransmitted", "local", []float64{0}},
	{"case11-nuttcp-variantA", "tcp", "rtt_mean", "local", []float64{1.54 * ms}},
	{"case11-nuttcp-variantA", "tcp", "cpu_util", "local", []float64{0.31}},
	{"case11-nuttcp-variantA", "tcp", "cpu_util", "remote", []float64{0.19}},
	{"case11-nuttcp-extra1", "tcp", "goodput", "remote", []float64{1666.2098 * mb}},
	{"case11-nuttcp-extra2", "udp", "goodput", "remote", []float64{1188.1121 * mb}},
	{"case11-nuttcp-extra2", "udp", "loss", "remote", []float64{104429.0 / 1554763}},
	{"case12-table-all", "message=64", "offered", "local", []float64{162.43 * mb, 157.84 * mb, 163.39 * mb}},
	{"case12-table-all", "message=1024", "offered", "local", []float64{2525.28 * mb, 2448.26 * mb, 2543.73 * mb}},
	{"case12-table-all", "message=16384", "offered", "local", []float64{26386.47 * mb, 25752.25 * mb, 26773.74 * mb}},
	{"case12-table-quoted", "message=64", "offered", "local", []float64{162.43 * mb, 157.84 * mb, 163.39 * mb}},
	{"case13-iperf3-variantA", "", "goodput", "remote", nil},
	{"case13-iperf2-variantB", "tcp", "offered", "local", []float64{11.3 * mb}},
	{"case14-netperf-variantA", "TCP_RR", "rate", "local", []float64{1333.62}},
	{"case14-netperf-variantB", "TCP_RR", "rate", "local", []float64{4087.38}},
	{"case14-netperf-variantA", "TCP_CRR", "rate", "local", []float64{404.17}},
	{"case14-netperf-variantB", "TCP_CRR", "rate", "local", []float64{1251.75}},
	{"case14-netperf-variantA", "UDP_RR", "rate", "local", []float64{1307.56}},
	{"case14-netperf-variantB", "UDP_RR", "rate", "local", []float64{4086.70}},
	{"case14-netperf-variantA", "TCP_STREAM", "goodput", "remote", []float64{1192.43 * mb}},
	{"case14-netperf-variantB", "TCP_STREAM", "goodput", "remote", []float64{2804.90 * mb}},
	{"case15-netperf-variantA", "message=4096", "goodput", "remote", []float64{9591.78 * mb}},
	{"case15-netperf-variantB", "message=4096", "goodput", "remote", []float64{9632.98 * mb}},
	{"case15-netperf-variantA", "message=8192", "goodput", "remote", []float64{9200.11 * mb}},
	{"case15-netperf-variantB", "message=8192", "goodput", "remote", []float64{9837.25 * mb}},
	{"case15-netperf-variantA", "message=16384", "goodput", "remote", []float64{9412.99 * mb}},
	{"case15-netperf-variantB", "message=16384", "goodput", "remote", []float64{9837.17 * mb}},
	{"case15-netperf-variantA", "message=32768", "goodput", "remote", []float64{9590.11 * mb}},
	{"case15-netperf-variantB", "message=32768", "goodput", "remote", []float64{9834.57 * mb}},
	{"case15-netperf-variantA", "message=65536", "goodput", "remote", []float64{9106.93 * mb}},
	{"case15-netperf-variantB", "message=65536", "goodput", "remote", []float64{9465.12 * mb}},
	{"case15-netperf-variantA", "message=4096", "cpu_per_byte", "local", []float64{0.483 * kb}},
	{"case15-netperf-variantB", "message=4096", "cpu_per_byte", "local", []float64{0.440 * kb}},
	{"case15-netperf-variantA", "message=65536", "cpu_per_byte", "local", []float64{0.253 * kb}},
	{"case15-netperf-variantB", "message=65536", "cpu_per_byte", "local", []float64{0.214 * kb}},
	{"case16-netperf-variantA", "TCP_STREAM", "goodput", "remote", []float64{4.11 * mb}},
	{"case16-netperf-variantB", "TCP_STREAM", "goodput", "remote", []float64{4.21 * mb}},
	{"case16-netperf-variantC", "TCP_STREAM", "goodput", "remote", []float64{4.23 * mb}},
	{"case16-netperf-variantA", "TCP_STREAM", "cpu_util", "local", []float64{0.0096}},
	{"case16-netperf-variantB", "TCP_STREAM", "cpu_util", "local", []float64{0.29}},
	{"case16-netperf-variantC", "TCP_STREAM", "cpu_per_byte", "local", []float64{571.139 * kb}},
	{"case16-iperf2-variantA", "tcp", "offered", "local", []float64{4.33 * mb}},

	{"000-sci-tasklet", "icmp_echo", "rtt_mean", "local", []float64{181 * us}},
	{"000-sci-kthread", "icmp_echo", "rtt_mean", "local", []float64{5584.555556 * us}},
	{"000-sci-tasklet", "UDP_STREAM", "goodput", "remote", []float64{167.55 * 8 * (1 << 20)}},
	{"000-sci-kthread", "UDP_STREAM", "offered", "local", []float64{174.92 * 8 * (1 << 20)}},
	{"000-sci-kthread", "UDP_STREAM", "goodput", "remote", []float64{174.82 * 8 * (1 << 20)}},
	{"000-sci-kthread", "UDP_STREAM", "loss", "remote", []float64{1 - 55925.0/55958}},
	{"000-sci-tasklet", "TCP_STREAM", "goodput", "remote", []float64{116 * 8 * (1 << 20)}},
	{"000-sci-kthread", "TCP_STREAM", "goodput", "remote", []float64{16.24 * 8 * (1 << 20)}},

	{"peers/netperf-udp_stream", "message=1024", "offered", "local", []float64{110.94 * 8 * (1 << 20)}},
	{"peers/netperf-udp_stream", "message=1024", "goodput", "remote", []float64{110.91 * 8 * (1 << 20)}},
	{"peers/netperf-tcp_stream-cpu", "TCP_STREAM", "cpu_per_byte", "remote", []float64{3.489 * kb}},
	{"peers/netperf-tcp_stream-g", "TCP_STREAM", "goodput", "remote", []float64{3.89 * gb}},
	{"peers/netperf-tcp_rr", "request=1 response=1", "rate", "local", []float64{24375.83}},
	{"peers/netperf-udp_rr-cpu", "request=64 response=64", "cpu_per_op", "local", []float64{33.928e-6}},
	{"peers/netperf-tcp_crr", "TCP_CRR", "rate", "local", []float64{8868.14}},
	{"peers/netperf-sendfile", "TCP_SENDFILE", "goodput", "remote", []float64{8991.30 * mb}},
	{"peers/netperf-confidence", "TCP_RR", "rate", "local", []float64{32135.19}},
	{"peers/netperf-omni-keyval", "UDP_RR", "rate", "local", []float64{39930.81}},
	{"peers/netperf-omni-keyval", "UDP_RR", "rtt_p99", "local", []float64{49 * us}},
	{"peers/netperf-omni-csv", "STREAM", "goodput", "remote", []float64{8788.50 * mb}},
	{"peers/netperf-demo", "TCP_STREAM", "goodput", "remote", []float64{8996.61 * mb}},
	{"peers/netperf-refused", "", "goodput", "remote", nil},
	{"peers/iperf3-tcp.txt", "tcp", "goodput", "remote", []float64{18.5 * gb}},
	{"peers/iperf3-tcp.json", "tcp", "goodput", "remote", []float64{11278003723.322357}},
	{"peers/iperf3-udp.json", "udp", "goodput", "remote", []float64{199916155.50408238}},
	{"peers/iperf3-udp-flood", "udp", "loss", "remote", []float64{8734.0 / 316780}},
	{"peers/iperf3-udp-flood", "udp", "offered", "local", []float64{324 * mb}},
	{"peers/iperf3-reverse-P3", "reverse streams=3", "goodput", "local", []float64{23417402877.34533}},
	{"peers/iperf3-reverse-P3", "reverse streams=3", "offered", "remote", []float64{23417802135.974155}},
	{"peers/iperf3-bidir", "bidir", "goodput", "local", []float64{10305894283.706278}},
	{"peers/iperf3-bidir", "bidir", "goodput", "remote", []float64{3228182672.66898}},
	{"peers/iperf3-omit", "tcp", "goodput", "remote", []float64{13596062367.669682}},
	{"peers/iperf3-refused", "", "goodput", "remote", nil},
	{"peers/qperf.txt", "udp_bw", "offered", "local", []float64{522e6 * 8}},
	{"peers/qperf.txt", "udp_bw", "goodput", "remote", []float64{518e6 * 8}},
	{"peers/qperf.txt", "tcp_lat", "half_rtt_mean", "local", []float64{15.8 * us}},
	{"peers/qperf-v", "tcp_bw", "cpu_per_byte", "local", []float64{0.626e-9}},
	{"peers/qperf-v", "udp_lat", "cpu", "remote", []float64{0.88}},
	{"peers/qperf-sweep", "udp_lat", "half_rtt_mean", "local", []float64{13.7 * us, 15 * us, 14.4 * us}},
	{"peers/ping.txt", "size=56", "rtt_mean", "local", []float64{0.067 * ms}},
	{"peers/ping-D", "size=56", "rtt_stddev", "local", []float64{0.014 * ms}},
	{"peers/ping-flood", "size=56", "rtt_max", "local", []float64{0.289 * ms}},
	{"peers/ping-loss", "size=56", "loss", "local", []float64{1}},
	{"peers/ping-loss", "size=56", "rtt_mean", "local", nil},
	{"peers/fping", "size=64", "rtt_max", "local", []float64{0.087 * ms}},
	{"peers/sockperf-pp", "ping-pong", "half_rtt_p99", "local", []float64{28.613 * us}},
	{"peers/sockperf-ul", "under-load", "half_rtt_mean", "local", []float64{56.431 * us}},
	{"peers/sockperf-tp", "message=64", "offered", "local", []float64{8.572 * 8 * (1 << 20)}},
}

func TestRightValues(t *testing.T) {
	files := keptFiles(t)
	for _, want := range rights {
		n := 0
		for name, data := range files {
			if !strings.Contains(name, want.file) {
				continue
			}
			n++
			var got []float64
			for _, x := range read(t, name, data).Tests {
				if !strings.Contains(x.Imported.Test().Name, want.test) {
					continue
				}
				if f := x.Figure(result.Taken{Name: want.metric, End: want.end}); f != nil {
					got = append(got, f.Value)
				}
			}
			if len(got) != len(want.values) {
				t.Errorf("%s, %s %s %s: got %v, want %v", name, want.test, want.metric, want.end, got, want.values)
				continue
			}
			for i := range got {
				if math.Abs(got[i]-want.values[i]) > 1e-6*math.Abs(want.values[i]) {
					t.Errorf("%s, %s %s %s: got %v, want %v", name, want.test, want.metric, want.end, got, want.values)
				}
			}
		}
		if n != 1 {
			t.Errorf("%q is %d files", want.file, n)
		}
	}
}

// What has no result has no figure, and says why and where.
func TestNoData(t *testing.T) {
	files := keptFiles(t)
	for name, says := range map[string]string{
		"peers/netperf-refused.txt": "failed", "peers/iperf3-refused.json": "Connection refused", "posts/case13-iperf3-variantA.txt": "control socket has closed",
	} {
		o := read(t, name, files[name])
		if len(o.Tests) != 0 || len(o.Problems) == 0 || !strings.Contains(fmt.Sprint(o.Problems), says) || strings.HasPrefix(o.Problems[0].Text, "not understood") {
			t.Errorf("%s: %d tests, %v", name, len(o.Tests), o.Problems)
		}
	}
}

// Of two files that hold three programs' outputs no line is left over.
func TestNothingLeftOver(t *testing.T) {
	files := keptFiles(t)
	for _, name := range []string{"posts/000-sci-tasklet.txt", "posts/000-sci-kthread.txt", "peers/iperf3-tcp.txt", "peers/ping.txt", "peers/sockperf-pp.txt", "posts/case01-netperf-variantA.txt", "posts/case15-netperf-variantA.txt"} {
		if o := read(t, name, files[name]); len(o.Problems) > 0 {
			t.Errorf("%s: %v", name, o.Problems)
		}
	}
}

func figures(o Outcome) (all []string) {
	for _, x := range o.Tests {
		for _, f := range x.Figures {
			all = append(all, fmt.Sprintf("%s %s %s %.9g", x.Name, f.Metric, f.End, f.Value))
		}
	}
	slices.Sort(all)
	return all
}

// What pasting does to an output changes no figure.
func TestPasted(t *testing.T) {
	for name, data := range keptFiles(t) {
		if strings.HasSuffix(name, ".yaml") {
			continue
		}
		want := figures(read(t, name, data))
		lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
		each := func(f func(string) string) []byte {
			out := make([]string, len(lines))
			for i, l := range lines {
				out[i] = f(l)
			}
			return []byte(strings.Join(out, "\n"))
		}
		for how, pasted := range map[string][]byte{
			"quoted":        each(func(l string) string { return "> " + l }),
			"quoted twice":  each(func(l string) string { return "> > " + l }),
			"carriage":      each(func(l string) string { return l + "\r" }),
			"blanks behind": each(func(l string) string { return l + "   " }),
			"byte order":    append([]byte("\xef\xbb\xbf"), data...),
			"text before":   append([]byte("Hello list,\nhere is what I see.\n\n"), data...),
			"text behind":   append(bytes.TrimRight(bytes.Clone(data), "\n"), []byte("\n\nAny idea?\n")...),
			"a logger's":    each(func(l string) string { return "2026-01-02T03:04:05Z " + l }),
		} {
			if how == "a logger's" && (strings.HasSuffix(name, ".json") || strings.Contains(name, "qperf") || strings.Contains(name, "json-extra")) {
				continue // its indent goes with the stamp
			}
			o, err := Read(name, pasted)
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			if got := figures(o); !slices.Equal(got, want) {
				t.Errorf("%s, %s:\n%s", name, how, cmp.Diff(want, got))
			}
		}
	}
}

// listed says that a figure is made of the round trips that ping lists one by one, of
// which a part has other figures than all.
func listed(x scan.Test) bool {
	f := x.Figure(result.Taken{Name: result.RTTMean, End: result.Local})
	return x.Tool == "ping" && f != nil && f.Text == ""
}

// A file that is cut off gives no figure that the whole file does not have.
func TestCutOff(t *testing.T) {
	for name, data := range keptFiles(t) {
		whole := figures(read(t, name, data))
		lines := bytes.SplitAfter(data, []byte("\n"))
		for n := range lines {
			o, err := Read(name, bytes.Join(lines[:n], nil))
			if err != nil {
				t.Fatal(err)
			}
			o.Tests = slices.DeleteFunc(o.Tests, listed)
			for _, f := range figures(o) {
				if !slices.Contains(whole, f) {
					t.Errorf("%s, cut behind line %d, has %s", name, n, f)
				}
			}
		}
	}
}

// Two outputs one behind the other give what both give.
func TestBothInOne(t *testing.T) {
	files := keptFiles(t)
	var names []string
	for name := range files {
		if !strings.HasSuffix(name, ".yaml") && !strings.Contains(name, "case12") && !strings.Contains(name, "qperf") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SampledFrom(names).Draw(t, "a"), rapid.SampledFrom(names).Draw(t, "b")
		both, err := Read("both", slices.Concat(bytes.TrimRight(files[a], "\n"), []byte("\n\n"), files[b]))
		if err != nil {
			t.Fatal(err)
		}
		oa, _ := Read(a, files[a])
		ob, _ := Read(b, files[b])
		want := slices.Concat(figures(oa), figures(ob))
		slices.Sort(want)
		if got := figures(both); !slices.Equal(got, want) {
			t.Fatalf("%s and %s:\n%s", a, b, cmp.Diff(want, got))
		}
	})
}

// sound fails on what no reader may return.
func sound(t testing.TB, f *scan.File, found scan.Found) {
	t.Helper()
	span := func(what string, s scan.Span) {
		if s.From < 1 || s.To < s.From || s.To > len(f.Lines) {
			t.Errorf("%s of lines %d to %d of %d", what, s.From, s.To, len(f.Lines))
		}
	}
	for i := range found.Tests {
		x := &found.Tests[i]
		span("a test", scan.Span{From: x.Line, To: x.To})
		trial := result.ImportedTrial(x.Imported, x.Warnings...)
		if err := trial.Validate(); err != nil {
			t.Errorf("%v: %+v", err, x)
		}
		if len(x.Figures) == 0 {
			t.Errorf("a test without a figure: %+v", x)
		}
	}
	for _, c := range found.Claimed {
		span("a claim", c)
	}
	for _, p := range found.Problems {
		span("a problem", p.Span)
		if p.Text == "" || strings.Contains(p.Text, "\n") {
			t.Errorf("a problem says %q", p.Text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range keptFiles(f) {
		if len(data) < 6000 {
			f.Add(data)
		}
	}
	for _, odd := range []string{"", "\n", "{", "> > ", "[  5] 0.00-1.00 sec -1 GBytes -nan Gbits/sec", "1 packets transmitted, 2 received", "throughput=1\nnum_samples=1\ntime_start=1", "netdelta: table/1\nmetrics: []", "variant,test,metric,unit,value\na,b,c,us,1\nb,b,c,us,1\n"} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := scan.New("fuzz", data)
		if err != nil {
			return
		}
		for _, tool := range tools {
			sound(t, file, tool.Read(file))
		}
		if _, err := Read("fuzz", data); err != nil {
			t.Errorf("a text is refused: %v", err)
		}
	})
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read("x", []byte("a\x00b")); err == nil || !strings.Contains(err.Error(), "no text") {
		t.Errorf("zero bytes: %v", err)
	}
	if _, err := Read("x", make([]byte, MaxFile+1)); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("too large: %v", err)
	}
	o, err := Read("x", nil)
	if err != nil || len(o.Tests)+len(o.Problems) != 0 {
		t.Errorf("nothing: %+v, %v", o, err)
	}
	o, err = Read("folder/x.txt", []byte("what is this\nnobody knows\n\nmore\n"))
	if err != nil || o.Name != "x.txt" || len(o.Problems) != 2 || o.Problems[0].Span != (scan.Span{From: 1, To: 2}) || !strings.Contains(o.Problems[0].Text, "what is this") {
		t.Errorf("%+v, %v", o, err)
	}
}

// A reader that speaks of lines that there are not is not believed.
func TestWithin(t *testing.T) {
	found := within(scan.Found{Claimed: []scan.Span{{From: 0, To: 1}, {From: 1, To: 9}, {From: 2, To: 1}, {From: 1, To: 2}}, Problems: []scan.Problem{{Span: scan.Span{From: 5, To: 6}}}}, 2)
	if len(found.Claimed) != 1 || len(found.Problems) != 0 {
		t.Errorf("%+v", found)
	}
}
