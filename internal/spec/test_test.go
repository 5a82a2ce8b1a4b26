package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNewTest(t *testing.T) {
	for _, c := range []struct {
		name    string
		params  Params
		want    string // String of the test
		short   string
		wantErr string // part of the error
	}{
		{name: "udp_rr", want: "udp_rr size=1", short: "udp_rr"},
		{name: "icmp_echo", want: "icmp_echo size=56", short: "icmp_echo"},
		{name: "udp_stream", want: "udp_stream size=1KiB", short: "udp_stream"},
		{name: "tcp_stream", want: "tcp_stream size=128KiB", short: "tcp_stream"},
		{name: "tcp_stream", params: Params{Size: 256 << 10, SndBuf: 1 << 20},
			want: "tcp_stream size=256KiB sndbuf=1MiB", short: "tcp_stream 256KiB sndbuf=1MiB"},
		{name: "udp_rr", params: Params{Size: MaxDatagram}, want: "udp_rr size=65507", short: "udp_rr 65507"},
		{name: "tcp_rr", params: Params{Size: MaxMessage}, want: "tcp_rr size=1GiB", short: "tcp_rr 1GiB"},
		{name: "tcp_rr", params: Params{Request: 100, Response: 1460},
			want: "tcp_rr request=100 response=1460", short: "tcp_rr request=100 response=1460"},

		{name: "", wantErr: `unknown test "": valid are icmp_echo, udp_rr`},
		{name: "UDP_RR", wantErr: "unknown test"},
		{name: "udp_rr", params: Params{Size: MaxDatagram + 1}, wantErr: "size 65508 is out of range: 1 to 65507"},
		{name: "udp_rr", params: Params{Response: MaxDatagram + 1}, wantErr: "response 65508 is out of range"},
		{name: "icmp_echo", params: Params{Size: MaxDatagram + 1}, wantErr: "1 to 65507"},
		{name: "tcp_rr", params: Params{Size: MaxMessage + 1}, wantErr: "out of range"},
		{name: "udp_rr", params: Params{Size: -1}, wantErr: "size -1 is out of range"},
		{name: "udp_rr", params: Params{RcvBuf: -1}, wantErr: "rcvbuf -1 is out of range"},
		{name: "udp_rr", params: Params{RcvBuf: MaxSockBuf + 1}, wantErr: "out of range"},
		{name: "udp_stream", params: Params{Request: 1}, wantErr: "takes no request: it takes size, sndbuf, rcvbuf"},
		{name: "icmp_echo", params: Params{Response: 1}, wantErr: "takes no response"},
		{name: "tcp_crr", params: Params{Flows: 4, Threads: 4}, want: "tcp_crr size=1 flows=4 threads=4", short: "tcp_crr flows=4 threads=4"},
		{name: "tcp_crr", params: Params{Flows: 4, Threads: 2}, wantErr: "tcp_crr has one connection a thread at a time: give as many threads as flows"},
		{name: "tcp_crr", params: Params{Flows: 2}, wantErr: "as many threads as flows"},
		{name: "wake", params: Params{Bytes: 1}, wantErr: "takes no bytes: it takes by, at, busy, count, fifo"},
	} {
		got, err := NewTest(c.name, c.params)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("NewTest(%q, %+v) = %v, %v; want an error with %q", c.name, c.params, got, err, c.wantErr)
			}
			continue
		}
		if err != nil || got.String() != c.want || got.Short() != c.short {
			t.Errorf("NewTest(%q, %+v) = %q, short %q, %v; want %q, %q", c.name, c.params, got, got.Short(), err, c.want, c.short)
		}
	}
}

func TestRequestAndResponseSizes(t *testing.T) {
	for _, c := range []struct {
		params            Params
		request, response int
	}{
		{Params{}, 1, 1},
		{Params{Size: 64}, 64, 64},
		{Params{Request: 100}, 100, 1},
		{Params{Response: 1460}, 1, 1460},
		{Params{Request: 100, Response: 1460}, 100, 1460},
		{Params{Size: 64, Response: 1460}, 64, 1460},
	} {
		got, err := NewTest("tcp_rr", c.params)
		if err != nil || got.RequestSize() != c.request || got.ResponseSize() != c.response {
			t.Errorf("%+v: request %d, response %d, %v; want %d, %d",
				c.params, got.RequestSize(), got.ResponseSize(), err, c.request, c.response)
		}
	}
}

func TestParseTests(t *testing.T) {
	for _, c := range []struct {
		list    string
		sizes   []int
		want    []string
		wantErr string
	}{
		{list: "udp_rr", want: []string{"udp_rr size=1"}},
		{list: " udp_rr , tcp_rr ", want: []string{"udp_rr size=1", "tcp_rr size=1"}},
		{list: "udp_rr size=1,tcp_stream size=128KiB", want: []string{"udp_rr size=1", "tcp_stream size=128KiB"}},
		{list: "udp_rr  size=64\tsndbuf=1MB", want: []string{"udp_rr size=64 sndbuf=1000000"}},
		{list: "udp_rr,tcp_rr size=9", sizes: []int{1, 64}, want: []string{"udp_rr size=1", "udp_rr size=64", "tcp_rr size=9"}},
		{list: "tcp_rr request=9", sizes: []int{1, 64}, want: []string{"tcp_rr request=9"}},
		{list: "tcp_rr sndbuf=9", sizes: []int{64}, want: []string{"tcp_rr size=64 sndbuf=9"}},
		{list: "udp_rr size=64,256, 512,tcp_rr", want: []string{"udp_rr size=64", "udp_rr size=256", "udp_rr size=512", "tcp_rr size=1"}},
		{list: "tcp_rr size=1..16*4 nodelay=off", want: []string{"tcp_rr size=1 nodelay=off", "tcp_rr size=4 nodelay=off", "tcp_rr size=16 nodelay=off"}},
		{list: "udp_rr size=1.5KiB", want: []string{"udp_rr size=1536"}},
		{list: "udp_rr size=7..7*2", want: []string{"udp_rr size=7"}},
		{list: "wake", sizes: []int{64}, want: []string{"wake by=futex"}},
		{list: "wake by=pipe", want: []string{"wake by=pipe"}},
		{list: "udp_rr rate=1000 catchup=on", want: []string{"udp_rr size=1 rate=1000 catchup=on"}},
		{list: "udp_rr rate=1000/s", want: []string{"udp_rr size=1 rate=1000"}},
		{list: "udp_stream rate=12.5MB/s", want: []string{"udp_stream size=1KiB rate=100Mbit/s"}},
		{list: "tcp_stream send=read+write recv=trunc filesize=3GiB flows=4 threads=4",
			want: []string{"tcp_stream size=128KiB flows=4 threads=4 send=read+write recv=trunc filesize=3GiB"}},
		{list: "udp_rr request=9 response=9,tcp_rr nodelay=on", want: []string{"udp_rr size=9", "tcp_rr size=1"}},
		{list: "udp_rr load=tcp_stream rate=1000", want: []string{"udp_rr size=1 rate=1000 load=tcp_stream"}},

		{list: "", wantErr: "empty test name: valid are icmp_echo, udp_rr, tcp_rr, tcp_crr, udp_stream, tcp_stream"},
		{list: "udp_rr,", wantErr: "empty test name"},
		{list: "udp_rr,udp_rr", wantErr: `test "udp_rr size=1" is named twice`},
		{list: "udp_rr,udp_rr size=1", wantErr: "named twice"},
		{list: "nosuch", wantErr: `unknown test "nosuch": valid are icmp_echo`},
		{list: "nosuch size=1", wantErr: "unknown test"},
		{list: "udp_rr 64", wantErr: `"64" is no parameter: write NAME=VALUE with one of size, request`},
		{list: "udp_rr mtu=64", wantErr: "no parameter"},
		{list: "udp_rr size=", wantErr: "test udp_rr: size"},
		{list: "udp_rr size=0", wantErr: "size 0 is out of range: 1 to 65507"},
		{list: "udp_rr size=65508", wantErr: "size 65508 is out of range: 1 to 65507"},
		{list: "udp_rr size=-1", wantErr: "negative"},
		{list: "udp_rr size=99999999999999999999", wantErr: "too large"},
		{list: "udp_rr size=1 size=2", wantErr: "size is given twice"},
		{list: "udp_stream request=1", wantErr: "takes no request"},
		{list: "wake size=1", wantErr: "test wake takes no size: it takes by, at, busy, count, fifo"},
		{list: "udp_rr size=64,256 size=7", wantErr: "size is given twice"},
		{list: "udp_rr size=64,70000", wantErr: "size 70000 is out of range: 1 to 65507"},
		{list: "64,udp_rr", wantErr: "unknown test"},
		{list: "udp_rr flows=0", wantErr: "flows 0 is out of range: 1 to 10000"},
		{list: "udp_rr flows=x", wantErr: `flows: "x" is no whole number`},
		{list: "udp_rr threads=2", wantErr: "2 threads have nothing to do with 1 flows"},
		{list: "udp_rr count=1 bytes=1", wantErr: "give one of them"},
		{list: "udp_rr rate=1Mbps", wantErr: "neither messages per second, as in 1000, nor bits"},
		{list: "udp_rr rate=0", wantErr: "rate 0 is out of range"},
		{list: "udp_rr rate=1 flows=2", wantErr: "a rate is that of one flow"},
		{list: "udp_rr catchup=on", wantErr: "catchup is about a rate"},
		{list: "udp_rr load=udp_stream", wantErr: `load "udp_stream" is none: valid are tcp_stream, tcp_maerts, tcp_bidir`},
		{list: "tcp_stream send=gso", wantErr: `send "gso" is none: valid are write, writev, read+write`},
		{list: "tcp_stream file=/x", wantErr: "send method write sends no file: read+write, mmap+write, sendfile, splice do"},
		{list: "tcp_stream send=sendfile file=/x filesize=9", wantErr: "file is as long as it is"},
		{list: "udp_stream send=gso recv=gro flows=4 threads=2", want: []string{"udp_stream size=1KiB flows=4 threads=2 send=gso recv=gro"}},
		{list: "udp_stream send=sendmmsg recv=recvmmsg flows=4", want: []string{"udp_stream size=1KiB flows=4 send=sendmmsg recv=recvmmsg"}},
		{list: "udp_stream recv=trunc flows=2", wantErr: "method trunc serves one flow in each thread"},
		{list: "tcp_stream send=sendfile flows=2", wantErr: "method sendfile serves one flow in each thread"},
		{list: "tcp_rr nodelay=yes", wantErr: "valid are on, off"},
		{list: "tcp_rr dscp=64", wantErr: "dscp 64 is out of range: 1 to 63"},
		{list: "udp_rr burst=17", wantErr: "no room for the numbers of more than 16 outstanding requests"},
		{list: "tcp_rr flows=9000 burst=4096", wantErr: "outstanding requests in all are more than 1048576"},
		{list: "tcp_rr size=5 request=6 response=7", wantErr: "size says nothing beside both"},
		{list: "tcp_stream,tcp_stream send=write recv=recv wait=block flows=1 nodelay=off", wantErr: "named twice"},
		{list: "wake by=bell", wantErr: "valid are futex, eventfd, pipe, cond"},
		{list: "udp_rr,tcp_rr", sizes: []int{65508}, wantErr: "test udp_rr: size 65508 is out of range: 1 to 65507"},
	} {
		got, err := ParseTests(c.list, c.sizes)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("ParseTests(%q, %v) = %v, %v; want an error with %q", c.list, c.sizes, got, err, c.wantErr)
			}
			continue
		}
		var names []string
		for _, g := range got {
			names = append(names, g.String())
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("ParseTests(%q, %v) = %q, %v; want %q", c.list, c.sizes, names, err, c.want)
		}
	}
}

func TestParseSizes(t *testing.T) {
	for _, c := range []struct {
		list    string
		want    []int
		wantErr string
	}{
		{list: ""},
		{list: "  "},
		{list: "1", want: []int{1}},
		{list: "1, 64,1KiB", want: []int{1, 64, 1024}},
		{list: "1073741824", want: []int{MaxMessage}},
		{list: "0", wantErr: "size 0 is out of range: 1 to 1073741824"},
		{list: "1073741825", wantErr: "out of range"},
		{list: "1,,2", wantErr: "empty"},
		{list: "1,-2", wantErr: "negative"},
		{list: "1..1MiB*32", want: []int{1, 32, 1024, 32768, 1 << 20}},
		{list: "64..300+100,9", want: []int{64, 164, 264, 9}},
		{list: "3..3+1", want: []int{3}},
		{list: "1..1MiB", wantErr: "has no step"},
		{list: "1..1MiB*1", wantErr: "does not go up"},
		{list: "9..1*2", wantErr: "goes down"},
		{list: "1..1MiB+1", wantErr: "more than 1000 sizes"},
		{list: "1..", wantErr: "has no step"},
		{list: "..2*2", wantErr: "empty"},
		{list: "1..4*2,2", wantErr: "size 2 is given twice"},
		{list: "1k", wantErr: "two ways"},
		{list: "64,64B", wantErr: "size 64 is given twice"},
	} {
		got, err := ParseSizes(c.list)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("ParseSizes(%q) = %v, %v; want an error with %q", c.list, got, err, c.wantErr)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("ParseSizes(%q) = %v, %v; want %v", c.list, got, err, c.want)
		}
	}
}

// The table of tests must keep its own rules: defaults that NewTest accepts,
// parameters that exist, names that differ.
func TestKindsHold(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if seen[k.Name] {
			t.Errorf("test %s stands twice in the table", k.Name)
		}
		seen[k.Name] = true
		if got, err := NewTest(k.Name, k.Default); err != nil || got.Params != k.Default || got.Short() != k.Name {
			t.Errorf("%s: default %+v gives %+v, short %q, %v", k.Name, k.Default, got, got.Short(), err)
		}
		for _, a := range k.Accepts {
			if !slices.ContainsFunc(params, func(p param) bool { return p.name == a }) {
				t.Errorf("%s accepts %q, which is no parameter", k.Name, a)
			}
		}
		if k.About == "" {
			t.Errorf("%s has no description", k.Name)
		}
	}
	if _, ok := KindOf("nosuch"); ok {
		t.Error("KindOf finds a test that the table does not have")
	}
}

// testGen draws valid tests, completed as NewTest completes them.
func testGen() *rapid.Generator[Test] {
	return rapid.Custom(func(t *rapid.T) Test {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		var p Params
		for _, row := range params {
			if slices.Contains(k.Accepts, row.name) && rapid.Bool().Draw(t, "has "+row.name) {
				drawParam(t, row, &p, k)
			}
		}
		made, err := NewTest(k.Name, p)
		if err != nil {
			t.Skip() // a combination that can't be
		}
		return made
	})
}

// drawParam sets a parameter to some value that it may have.
func drawParam(t *rapid.T, row param, p *Params, k Kind) {
	var value string
	switch row.form {
	case "BYTES", "N":
		value = strconv.Itoa(rapid.OneOf(rapid.IntRange(1, 99), rapid.IntRange(1, 32000)).Draw(t, row.name))
	case "BITRATE", "N|BITRATE":
		value = formatBits(rapid.Int64Range(1, MaxBitRate).Draw(t, row.name))
	case "on|off":
		value = rapid.SampledFrom([]string{"on", "off"}).Draw(t, row.name)
	case "PATH":
		value = "/" + rapid.StringMatching(`[a-z/]{1,40}`).Draw(t, row.name)
	default:
		var names []string
		for _, m := range slices.Concat(sendMethods, recvMethods) {
			names = append(names, m.Name)
		}
		value = rapid.SampledFrom(slices.Concat(names, Loads(), WakeMethods(), waits[:], []string{"cubic", "reno"})).Draw(t, row.name)
	}
	before := *p
	if row.set(p, k, value) != nil {
		*p = before
	}
}

func TestStringIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(testGen(), 1, 5, func(x Test) Test { return x }).Draw(t, "tests")
		var list []string
		for _, w := range want {
			list = append(list, w.String())
		}
		got, err := ParseTests(strings.Join(list, ","), []int{7})
		if err != nil {
			t.Fatal(err)
		}
		// A test with none of the three sizes never comes out of NewTest, so
		// the crossing with 7 leaves all of them alone.
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func FuzzParseTests(f *testing.F) {
	f.Add("udp_rr size=1,tcp_stream size=128KiB", "1,64")
	f.Add("tcp_rr request=1 response=1MiB sndbuf=4096", "")
	f.Add("udp_rr,,", "0")
	f.Fuzz(func(t *testing.T, list, sizeList string) {
		sizes, err := ParseSizes(sizeList)
		if err != nil {
			sizes = nil
		}
		tests, err := ParseTests(list, sizes)
		if err != nil {
			if tests != nil || err.Error() == "" {
				t.Fatalf("error %q with tests %v", err, tests)
			}
			return
		}
		if len(tests) == 0 {
			t.Fatalf("no error and no test from %q", list)
		}
		for i, x := range tests {
			if again, err := NewTest(x.Name, x.Params); err != nil || again != x {
				t.Fatalf("%q gives %v, which NewTest takes as %v, %v", list, x, again, err)
			}
			if x.RequestSize() < 1 || x.ResponseSize() < 1 {
				t.Fatalf("%v has a direction of no bytes", x)
			}
			if slices.Contains(tests[:i], x) {
				t.Fatalf("%q gives %v twice", list, x)
			}
		}
	})
}

func FuzzParseSizes(f *testing.F) {
	f.Add("1,64,1KiB")
	f.Add("0")
	f.Add("1.5MB,")
	f.Fuzz(func(t *testing.T, list string) {
		sizes, err := ParseSizes(list)
		if err != nil && sizes != nil {
			t.Fatalf("error %q with sizes %v", err, sizes)
		}
		for _, n := range sizes {
			if n < 1 || n > MaxMessage {
				t.Fatalf("%q gives size %d", list, n)
			}
		}
	})
}

func TestEndThreads(t *testing.T) {
	for text, want := range map[string]int{
		"udp_rr": 1, "tcp_stream flows=8 threads=3": 3, "tcp_bidir": 2, "wake": 2,
		"udp_rr load=tcp_stream": 2, "udp_rr load=tcp_bidir": 3,
	} {
		tests, err := ParseTests(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tests[0].EndThreads(); got != want {
			t.Errorf("%s: %d threads, want %d", text, got, want)
		}
	}
}
