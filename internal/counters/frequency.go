package counters

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// frequencyFiles are where a CPU's clock is told below its directory of sysfs,
// best first (Documentation/admin-guide/pm/cpufreq.rst).
var frequencyFiles = []string{"cpufreq/scaling_cur_freq", "cpufreq/cpuinfo_cur_freq"}

// Values of level "from".
const (
	fromCPUFreq = 0
	fromCPUInfo = 1 // what /proc/cpuinfo says, which may never change
)

// maxFrequencyCPUs is of how many CPUs the clock is read, and slowFrequency how
// long reading may take: some kernels wait ten milliseconds for it, which must
// not be just before a window.
const (
	maxFrequencyCPUs = 64
	slowFrequency    = 500 * time.Microsecond
)

// frequency reads the CPUs' clocks and how often they were throttled.
type frequency struct {
	khz, throttles []cpuFile
	cpuinfo        *file
	cpus           map[int]bool
}

// cpuFile is a file of one CPU that holds one number.
type cpuFile struct {
	name string // of the figure
	f    *os.File
}

// openFrequency opens cpufreq's files of the first 64 of the options' CPUs, or
// else /proc/cpuinfo. Levels: "cpuN.khz", the clock as of now, which on an idle
// CPU is that of its last work; "from", 0 for cpufreq and 1 for /proc/cpuinfo.
// Counts, where the CPU tells them: "cpuN.throttles", how often its core was too
// hot (thermal_throttle/core_throttle_count).
func openFrequency(o *Options) (source, error) {
	s := &frequency{cpus: map[int]bool{}}
	for _, cpu := range o.CPUs[:min(len(o.CPUs), maxFrequencyCPUs)] {
		s.cpus[cpu] = true
		name := "cpu" + strconv.Itoa(cpu)
		dir := filepath.Join(o.root, "sys/devices/system/cpu", name)
		for _, path := range frequencyFiles {
			if f, ok := openNumber(filepath.Join(dir, path)); ok {
				s.khz = append(s.khz, cpuFile{name + ".khz", f})
				break
			}
		}
		if f, ok := openNumber(filepath.Join(dir, "thermal_throttle/core_throttle_count")); ok {
			s.throttles = append(s.throttles, cpuFile{name + ".throttles", f})
		}
	}
	if len(s.khz) == 0 {
		all, err := openFile(o, "proc/cpuinfo", s.parseCPUInfo)
		if err == nil {
			s.cpuinfo = all.(*file)
		} else if len(s.throttles) == 0 {
			return nil, fmt.Errorf("no clock of a CPU is told by cpufreq below /sys/devices/system/cpu, nor by /proc/cpuinfo: %w", err)
		}
	}
	begin := now()
	_, err := s.take()
	if took := time.Duration(now() - begin); err == nil && took > slowFrequency {
		begin = now() // it may have been a moment's bad luck
		_, err = s.take()
		if took = min(took, time.Duration(now()-begin)); err == nil && took > slowFrequency {
			err = unavailable("reading the CPUs' clocks takes %v, which is too long beside a window", took.Round(time.Microsecond))
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *frequency) take() (*sample, error) {
	x := newSample()
	for _, part := range []struct {
		files []cpuFile
		to    map[string]int64
	}{{s.khz, x.levels}, {s.throttles, x.counts}} {
		for _, c := range part.files {
			// A CPU that has gone offline has no clock.
			if n, err := readNumber(c.f); err == nil {
				part.to[c.name] = n
			}
		}
	}
	if len(s.khz) > 0 {
		x.levels["from"] = fromCPUFreq
	}
	if s.cpuinfo != nil {
		text, err := s.cpuinfo.read()
		if err != nil {
			return nil, err
		}
		x.parse = func(x *sample) error { return s.parseCPUInfo(text, x) }
	}
	return x, nil
}

// parseCPUInfo finds "processor : N" and, after it, "cpu MHz : 2596.138"
// (proc_cpuinfo(5)). Not every architecture tells the second.
func (s *frequency) parseCPUInfo(text []byte, x *sample) error {
	cpu := -1
	for line := range bytes.Lines(text) {
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		v := strings.TrimSpace(string(value))
		switch string(bytes.TrimSpace(name)) {
		case "processor":
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("/proc/cpuinfo has a processor %q", shortText(v))
			}
			cpu = n
		case "cpu MHz":
			mhz, err := strconv.ParseFloat(v, 64)
			if err != nil || !(mhz >= 0 && mhz < 1e9) {
				return fmt.Errorf("/proc/cpuinfo has a clock of %q MHz", shortText(v))
			}
			if s.cpus[cpu] {
				x.levels["cpu"+strconv.Itoa(cpu)+".khz"] = int64(mhz*1000 + 0.5)
				x.levels["from"] = fromCPUInfo
			}
		}
	}
	return nil
}

func (s *frequency) close() error {
	var all error
	for _, c := range slices.Concat(s.khz, s.throttles) {
		all = errors.Join(all, c.f.Close())
	}
	if s.cpuinfo != nil {
		all = errors.Join(all, s.cpuinfo.close())
	}
	return all
}

// openNumber opens a file that holds a number.
func openNumber(path string) (*os.File, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	if _, err := readNumber(f); err != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

func readNumber(f *os.File) (int64, error) {
	var text [32]byte
	n, err := f.ReadAt(text[:], 0)
	if n == 0 && err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimSpace(text[:n])), 10, 64)
}

func shortText(s string) string { return s[:min(len(s), 40)] }
