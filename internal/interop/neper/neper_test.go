package neper

import (
	"math"
	"strings"
	"testing"

	"netdelta/internal/interop/scan"
	"netdelta/internal/result"
)

const server = `client=0
control_port=12866
num_flows=1
num_threads=1
response_size=1
request_size=1
test_length=10
total_run_time=10
invalid_secret_count=0
time_start=1306173.666348235
utime_start=0.062141
utime_end=0.348902
stime_start=0.003883
stime_end=5.798208
num_transactions=329605
num_samples=10
throughput=33009.84
correlation_coefficient=1.00
time_end=1306183.666374314
`

func read(t *testing.T, text string) scan.Found {
	t.Helper()
	f, err := scan.New("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Read(f)
}

func figure(t *testing.T, found scan.Found, metric, end string) float64 {
	t.Helper()
	if len(found.Tests) != 1 {
		t.Fatalf("%d tests, %v", len(found.Tests), found.Problems)
	}
	f := found.Tests[0].Figure(result.Taken{Name: metric, End: end})
	if f == nil {
		t.Fatalf("no %s at %s in %+v", metric, end, found.Tests[0].Figures)
	}
	return f.Value
}

func TestRoundTrips(t *testing.T) {
	found := read(t, "server$ tcp_rr\n"+server)
	if got := figure(t, found, result.Rate, result.Remote); got != 33009.84 {
		t.Errorf("%v transactions per second", got)
	}
	if got := figure(t, found, result.CPUProcess, result.Remote); math.Abs(got-0.6081) > 0.001 {
		t.Errorf("its process took %v of a CPU", got)
	}
	if name := found.Tests[0].Imported.Test().Name; name != "neper tcp_rr request=1 response=1" {
		t.Errorf("it is called %q", name)
	}
	client := strings.Replace(server, "client=0", "client=1", 1) + "latency_min=0.000019\nlatency_mean=0.000030\nlatency_p99=0.000068\n"
	found = read(t, client)
	if got := figure(t, found, result.RTTP99, result.Local); math.Abs(got-68_000) > 1e-6 {
		t.Errorf("p99 of %v ns", got)
	}
	if found.Tests[0].Name != "rr" {
		t.Errorf("without a command line it is called %q", found.Tests[0].Name)
	}
}

func TestStream(t *testing.T) {
	text := strings.NewReplacer("throughput=33009.84", "throughput_Mbps=9408.87", "num_flows=1", "num_flows=4").Replace(server)
	found := read(t, text)
	if got := figure(t, found, result.Goodput, result.Remote); math.Abs(got-9408.87e6) > 1 {
		t.Errorf("%v bit/s", got)
	}
	if name := found.Tests[0].Imported.Test().Name; name != "neper stream flows=4" {
		t.Errorf("it is called %q", name)
	}
	text = strings.NewReplacer("throughput=33009.84", "throughput_units=Gbit/s\nthroughput=9.4", "client=0", "client=1").Replace(server)
	if got := figure(t, read(t, text), result.Throughput, ""); math.Abs(got-9.4e9) > 1 {
		t.Errorf("%v bit/s", got)
	}
}

func TestNoResult(t *testing.T) {
	for what, text := range map[string]string{
		"options alone": server[:strings.Index(server, "invalid")],
		"no number":     strings.Replace(server, "33009.84", "-nan", 1),
		"no unit":       strings.Replace(server, "throughput=33009.84", "throughput_units=furlong\nthroughput=1", 1),
	} {
		if found := read(t, text); len(found.Tests) != 0 || len(found.Problems) != 1 {
			t.Errorf("%s: %+v, %v", what, found.Tests, found.Problems)
		}
	}
	if found := read(t, "a=1\nb=2\n"); len(found.Tests)+len(found.Problems)+len(found.Claimed) != 0 {
		t.Errorf("somebody else's: %+v", found)
	}
}
