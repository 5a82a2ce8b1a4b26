package counters

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdelta/internal/result"
)

// write makes files below a directory of their own, which it returns: a small
// /proc and /sys.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read takes one sample of a source.
func read(t *testing.T, open func(*Options) (source, error), o *Options) *sample {
	t.Helper()
	s, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	return sampleOf(t, s)
}

// sampleOf takes a sample and has it parsed.
func sampleOf(t testing.TB, s source) *sample {
	t.Helper()
	x, err := s.take()
	if err == nil {
		err = x.parsed()
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func same(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

const timerList = `Timer List Version: v0.10
HRTIMER_MAX_CLOCK_BASES: 8
now at 10000 nsecs

cpu: 0
 clock 0:
  .base:       000000008fe1d9ba
active timers:
 #0: <00000000719dfb21>, tick_nohz_handler, S:01
  .tick_stopped   : 0
  .idle_entrytime : 9000 nsecs
  .idle_exittime  : 100 nsecs
  .idle_sleeptime : 5000 nsecs
  .iowait_sleeptime: 300 nsecs
jiffies: 4300980776

cpu: 3
  .nohz           : 1
  .highres        : 1
  .tick_stopped   : 1
  .idle_entrytime : 9600 nsecs
  .idle_exittime  : 9000 nsecs
  .idle_sleeptime : 7000 nsecs
  .iowait_sleeptime: 0 nsecs

cpu: 4
  .tick_stopped   : 1
  .idle_entrytime : 9000 nsecs
  .idle_exittime  : 9000 nsecs
  .idle_sleeptime : 1 nsecs
  .iowait_sleeptime: 1 nsecs

cpu: 5
  .nohz_mode      : 0
  .tick_stopped   : 0
  .idle_entrytime : 0 nsecs
  .idle_exittime  : 0 nsecs
  .idle_sleeptime : 0 nsecs
  .iowait_sleeptime: 0 nsecs

Tick Device: mode:     1
Per CPU device: 0
`

// One CPU is awake, one asleep, one busy with its tick stopped, and one whose
// tick never stops, of which the kernel keeps no time.
func TestIdle(t *testing.T) {
	x := read(t, openIdle, &Options{root: write(t, map[string]string{"proc/timer_list": timerList})})
	same(t, "counts", x.counts, map[string]int64{"cpu0.idle": 5300, "cpu3.idle": 7400, "cpu4.idle": 2})
	if x.at != 10000 {
		t.Errorf("the list was taken at %d", x.at)
	}
	_, err := openIdle(&Options{root: write(t, nil)})
	if err == nil || !strings.Contains(err.Error(), "root may read it") {
		t.Errorf("without the file: %v", err)
	}
}

const interruptText = `           CPU0       CPU2
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 38:          0       5851 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0
 39: 4294967295          7 PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0
 40:          3          0  GICv2  40 Level     virtio21-rx, i2c designware
 41:          2          0  PCI-MSI 5-edge
LOC:   42094982   36228935   Local timer interrupts
ERR:         12
MIS:          0
`

func TestInterrupts(t *testing.T) {
	named := write(t, map[string]string{"proc/interrupts": interruptText, "sys/devices/pci/virtio2/modalias": "x", "sys/class/net/eth0/mtu": "1500"})
	link(t, named, "eth0", "sys/devices/pci/virtio2")
	numbered := write(t, map[string]string{"proc/interrupts": interruptText, "sys/devices/pci0/0000:00:03.0/msi_irqs/24": "", "sys/devices/pci0/0000:00:03.0/msi_irqs/41": "", "sys/class/net/eth0/mtu": ""})
	link(t, numbered, "eth0", "sys/devices/pci0/0000:00:03.0")
	pinned := write(t, map[string]string{"proc/interrupts": interruptText, "sys/devices/platform/nic.1/irq": "40\n", "sys/class/net/eth0/mtu": ""})
	link(t, pinned, "eth0", "sys/devices/platform/nic.1")
	bus := write(t, map[string]string{"proc/interrupts": interruptText, "sys/devices/pci0/0000:00:09.0/virtio9/modalias": "", "sys/devices/pci0/0000:00:09.0/msi_irqs/24": "", "sys/class/net/eth0/mtu": ""})
	link(t, bus, "eth0", "sys/devices/pci0/0000:00:09.0/virtio9")
	for _, c := range []struct {
		name, root, device string
		lines, sum         int64
	}{
		{"named after its device", named, "eth0", 2, math.MaxUint32 + 7 + 5851},
		{"by number", numbered, "eth0", 2, 1 + 2},
		{"by its pin", pinned, "eth0", 1, 3},
		{"by its bus", bus, "eth0", 1, 1},
		{"another interface", named, "eth1", 0, 0},
		{"none", named, "", 0, 0},
		{"a name that can't be", named, "../net/eth0", 0, 0},
	} {
		x := read(t, openInterrupts, &Options{root: c.root, Device: c.device})
		want := map[string]int64{
			"24 ACPI:Ged@0": 1, "38 virtio2-input.0@2": 5851, "39 virtio2-output.0@0": math.MaxUint32, "39 virtio2-output.0@2": 7,
			"40 virtio21-rx, i2c designware@0": 3, "41 PCI-MSI 5-edge@0": 2,
			"LOC@0": 42094982, "LOC@2": 36228935, "ERR": 12, "MIS": 0,
		}
		if c.lines > 0 {
			want["device"] = c.sum
		}
		same(t, c.name, x.counts, want)
		same(t, c.name, x.levels, map[string]int64{"device_lines": c.lines})
	}
}

// link makes a device an interface's.
func link(t *testing.T, root, name, device string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(root, device), filepath.Join(root, "sys/class/net", name, "device")); err != nil {
		t.Fatal(err)
	}
}

func TestNamesWord(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"eth1-TxRx-0", "eth1", true}, {"eth10-TxRx-0", "eth1", false}, {"veth1", "eth1", false},
		{"eth10 eth1", "eth1", true}, {"mlx5_comp0@pci:0000:03:00.0", "0000:03:00.0", true}, {"", "", false}, {"a", "", false},
	} {
		if got := NamesWord(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}

func TestSoftirqs(t *testing.T) {
	x := read(t, openSoftirqs, &Options{root: write(t, map[string]string{"proc/softirqs": `                    CPU0       CPU3
      NET_TX:      36983      26619
      NET_RX:  463560171          0
     HRTIMER:          0          0
`})})
	same(t, "counts", x.counts, map[string]int64{
		"NET_TX": 63602, "NET_TX@0": 36983, "NET_TX@3": 26619, "NET_RX": 463560171, "NET_RX@0": 463560171, "HRTIMER": 0,
	})
}

// The columns are those of Linux 6, 5.9, 3.10 and 2.6.
func TestSoftnet(t *testing.T) {
	for _, c := range []struct {
		name, text, online string
		counts, levels     map[string]int64
	}{
		{"with numbers", "0000000a 00000001 00000002 0 0 0 0 0 0 00000003 00000004 00000005 00000000 00000005 00000000\n0000000b 0 0 0 0 0 0 0 0 0 0 00000001 00000007 1 0\n", "",
			map[string]int64{
				"processed": 21, "processed@0": 10, "processed@7": 11, "dropped": 1, "dropped@0": 1, "dropped@7": 0, "squeezed": 2, "squeezed@0": 2, "squeezed@7": 0,
				"received_rps": 3, "received_rps@0": 3, "received_rps@7": 0, "flow_limit": 4, "flow_limit@0": 4, "flow_limit@7": 0,
			}, map[string]int64{"backlog": 6}},
		{"without", "00000001 0 0 0 0 0 0 0 0 0 00000002\n00000003 0 0 0 0 0 0 0 0 0 0\n", "0,5\n",
			map[string]int64{
				"processed": 4, "processed@0": 1, "processed@5": 3, "dropped": 0, "dropped@0": 0, "dropped@5": 0, "squeezed": 0, "squeezed@0": 0, "squeezed@5": 0,
				"received_rps": 0, "received_rps@0": 0, "received_rps@5": 0, "flow_limit": 2, "flow_limit@0": 2, "flow_limit@5": 0,
			}, nil},
		{"old", "00000001 00000002 00000003 0 0 0 0 0 0\n", "",
			map[string]int64{"processed": 1, "processed@0": 1, "dropped": 2, "dropped@0": 2, "squeezed": 3, "squeezed@0": 3}, nil},
	} {
		files := map[string]string{"proc/net/softnet_stat": c.text}
		if c.online != "" {
			files["sys/devices/system/cpu/online"] = c.online
		}
		x := read(t, openSoftnet, &Options{root: write(t, files)})
		same(t, c.name, x.counts, c.counts)
		same(t, c.name, x.levels, c.levels)
	}
}

func TestFrequency(t *testing.T) {
	const dir = "sys/devices/system/cpu/"
	scaled := write(t, map[string]string{
		dir + "cpu0/cpufreq/scaling_cur_freq": "2600000\n", dir + "cpu0/thermal_throttle/core_throttle_count": "4\n",
		dir + "cpu1/cpufreq/scaling_cur_freq": "<unknown>\n", dir + "cpu1/cpufreq/cpuinfo_cur_freq": "800000\n",
		dir + "cpu2/cpufreq/scaling_cur_freq": "1\n", "proc/cpuinfo": "processor : 0\ncpu MHz : 1\n",
	})
	x := read(t, openFrequency, &Options{root: scaled, CPUs: []int{0, 1}})
	same(t, "levels", x.levels, map[string]int64{"cpu0.khz": 2600000, "cpu1.khz": 800000, "from": fromCPUFreq})
	same(t, "counts", x.counts, map[string]int64{"cpu0.throttles": 4})
	info := write(t, map[string]string{"proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2596.138\n\nprocessor\t: 1\ncpu MHz\t\t: 1.5\n"})
	x = read(t, openFrequency, &Options{root: info, CPUs: []int{0}})
	same(t, "levels of cpuinfo", x.levels, map[string]int64{"cpu0.khz": 2596138, "from": fromCPUInfo})
	for name, root := range map[string]string{"none": write(t, nil), "no clock": write(t, map[string]string{"proc/cpuinfo": "processor : 0\n"})} {
		if s, err := openFrequency(&Options{root: root, CPUs: []int{0}}); err == nil {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// A step counts whichever way it goes; noise and slow readings don't.
func TestClock(t *testing.T) {
	var at, offset, delay int64
	calls := 0
	c := &clockSource{read: func() (wall, before, after int64) {
		calls++
		d := delay
		if calls%clockTries == 0 { // one reading of each sample is quick
			d = 100
		}
		at += d
		return at - d/3 + offset, at - d, at
	}}
	delay = 50_000
	for _, step := range []struct{ offset, want int64 }{
		{1e18, 0}, {1e18 + 60, 0}, {1e18 - 60, 0}, {1e18 + 5_000_000, 5_000_000}, {1e18 + 5_000_050, 5_000_000}, {1e18, 10_000_000},
	} {
		offset = step.offset
		x, err := c.take()
		if err != nil {
			t.Fatal(err)
		}
		if got := x.counts["step_ns"]; max(got-step.want, step.want-got) > 200 || step.want == 0 && got != 0 {
			t.Errorf("offset %d: steps of %d ns, want %d", step.offset, got, step.want)
		}
	}
}

// What can't be parsed is an error, and never a panic or a figure.
func FuzzProcFiles(f *testing.F) {
	for _, text := range []string{"", timerList, interruptText, "CPU0\nNET_RX: 1\n", "0000000a 1 2 3 4 5 6 7 8 9 a b c\n", "processor: 0\ncpu MHz: 1e300\n", "cpu0 1 2 3\nctxt 9\n"} {
		f.Add([]byte(text))
	}
	lines := &lineOwner{names: []string{"virtio2"}}
	s := &frequency{cpus: map[int]bool{0: true}}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, parse := range map[string]func([]byte, *sample) error{
			"stat": parseStat, "timer_list": parseTimerList, "softirqs": parseSoftirqs, "cpuinfo": s.parseCPUInfo,
			"interrupts": func(text []byte, x *sample) error { return parseInterrupts(text, lines, x) },
			"softnet":    func(text []byte, x *sample) error { return parseSoftnet(text, []string{"0"}, x) },
		} {
			x := newSample()
			if parse(text, x) != nil {
				continue
			}
			for n, v := range x.counts {
				if v < 0 && name != "timer_list" && name != "stat" {
					t.Errorf("%s: %s is %d", name, n, v)
				}
			}
		}
	})
}

// Counts of few bits wrap; those that are made anew fall back.
func TestRise(t *testing.T) {
	for _, c := range []struct {
		bits          int
		was, is, want int64
	}{
		{0, 5, 9, 4}, {0, 9, 5, 0}, {32, math.MaxUint32, 3, 4}, {32, 100, 50, 0}, {32, 2 * math.MaxUint32, 2*math.MaxUint32 + 9, 9}, {32, 5, 5, 0},
	} {
		if got := (&sample{bits: c.bits}).rise(c.was, c.is); got != c.want {
			t.Errorf("%d bits, %d to %d: %d, want %d", c.bits, c.was, c.is, got, c.want)
		}
	}
	counts := func(sparse bool) map[string]int64 {
		r, err := reading(result.SourceCPU, &sample{counts: map[string]int64{"a": 1}}, &sample{sparse: sparse, counts: map[string]int64{"a": 1, "b": 2}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Counts
	}
	same(t, "a count that is new", counts(false), nil)
	same(t, "a count that was zero", counts(true), map[string]int64{"b": 2})
}
