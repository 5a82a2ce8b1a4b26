package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of what knobs may be set to, beyond which no kernel goes.
const (
	minMTU       = 68      // RFC 791: what every internet module must forward
	maxMTU       = 65536   // of the loopback device, which has the largest
	maxRing      = 1 << 24 // descriptors
	maxChannels  = 1 << 16
	maxFlush     = 10_000_000_000 // ns
	maxFlowTable = 1 << 29        // net/core/sysctl_net_core.c
	maxGovernor  = 15             // CPUFREQ_NAME_LEN of linux/cpufreq.h, without its 0
	maxCPU       = 1 << 16
	maxText      = 1024 // bytes of a value
)

// None is the value of a knob of CPUs that names none.
const None = "none"

// coalesceNames are the parameters of ethtool -C that the ioctl has.
var coalesceNames = []string{
	"adaptive-rx", "adaptive-tx",
	"rx-usecs", "rx-frames", "rx-usecs-irq", "rx-frames-irq",
	"tx-usecs", "tx-frames", "tx-usecs-irq", "tx-frames-irq",
	"stats-block-usecs", "pkt-rate-low", "pkt-rate-high", "sample-interval",
	"rx-usecs-low", "rx-frames-low", "tx-usecs-low", "tx-frames-low",
	"rx-usecs-high", "rx-frames-high", "tx-usecs-high", "tx-frames-high",
}

// quoted is a user's text for a message, cut where it is long.
func quoted(s string) string {
	if len(s) > MaxName {
		return strconv.Quote(s[:MaxName]) + "..."
	}
	return strconv.Quote(s)
}

// wordsValue is the check of a value that is one of some words.
func wordsValue(words ...string) func(arg, value string) error {
	valid := oneOf(words)
	return func(_, value string) error { return valid(value) }
}

func oneOf(words []string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("%s is none: valid are %s", quoted(value), strings.Join(words, ", "))
		}
		return nil
	}
}

var onOffValue = wordsValue(string(On), string(Off))

// numberValue is the check of a whole number. Only its plain form is allowed, so
// that what is read back can be compared with it.
func numberValue(least, most int64) func(arg, value string) error {
	return func(_, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != value {
			return fmt.Errorf("%s is no whole number in plain digits", quoted(value))
		}
		if n < least || n > most {
			return fmt.Errorf("%d is out of range: %d to %d", n, least, most)
		}
		return nil
	}
}

var plainNumber = numberValue(0, 1<<32-1)

func coalesceValue(arg, value string) error {
	if strings.HasPrefix(arg, "adaptive-") {
		return onOffValue(arg, value)
	}
	return plainNumber(arg, value)
}

// nameValue is the check of a name such as the kernel's tables have: no path.
func nameValue(most int) func(arg, value string) error {
	return func(_, value string) error {
		if len(value) > most {
			return fmt.Errorf("%s is longer than %d bytes", quoted(value), most)
		}
		return wordArg(value)
	}
}

// wordArg is the check of a word of letters, digits, hyphens and underscores.
func wordArg(s string) error {
	if s == "" || len(s) > MaxName || strings.ContainsFunc(s, func(r rune) bool { return !wordRune(r) }) {
		return fmt.Errorf("%s is no name: letters, digits, - and _ make one, at most %d of them", quoted(s), MaxName)
	}
	return nil
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// sysctlArg is the check of a sysctl's name: words with dots between, so that no
// name leads out of /proc/sys.
func sysctlArg(s string) error {
	words := strings.Split(s, ".")
	if len(words) < 2 || len(s) > 4*MaxName {
		return fmt.Errorf("%s is no sysctl: write the whole name with dots, as in net.ipv4.tcp_rmem", quoted(s))
	}
	for _, w := range words {
		if err := wordArg(w); err != nil {
			return fmt.Errorf("%s is no sysctl: %w", quoted(s), err)
		}
	}
	return nil
}

// textValue is the check of a text that goes to a file of the kernel: one line.
func textValue(_, value string) error {
	if value == "" || len(value) > maxText {
		return fmt.Errorf("a value of %d bytes: 1 to %d are allowed", len(value), maxText)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%s has in it what is not printable ASCII", quoted(value))
	}
	if strings.TrimSpace(value) != value {
		return fmt.Errorf("%s has blanks at an end", quoted(value))
	}
	return nil
}

// qdiscValue is the check of a kind and its options.
func qdiscValue(_, value string) error {
	words := strings.Fields(value)
	if len(words) == 0 || strings.Join(words, " ") != value || len(value) > maxText {
		return fmt.Errorf("%s is no qdisc: write KIND, or KIND OPTION VALUE with single blanks between", quoted(value))
	}
	for _, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return !wordRune(r) && r != '.' && r != '%' && r != ':' }) || w[0] == '-' {
			return fmt.Errorf("%s is no word of a qdisc", quoted(w))
		}
	}
	return nil
}

func commandValue(_, value string) error {
	if value == "" {
		return nil
	}
	return checkName(value)
}

func cpusValue(none bool) func(arg, value string) error {
	return func(_, value string) error {
		cpus, err := ParseCPUs(value)
		if err == nil && len(cpus) == 0 && !none {
			err = fmt.Errorf("%s is none: at least one CPU is needed", quoted(value))
		}
		return err
	}
}

func workerCPUs(_, value string) error {
	cpus, err := ParseCPUs(value)
	if err == nil && len(cpus) > MaxThreads {
		err = fmt.Errorf("%d CPUs are more than %d", len(cpus), MaxThreads)
	}
	return err
}

// ParseCPUs reads a list of CPUs as the kernel writes it ("0", "0,2", "0-3,8"),
// in the order given, each once; "none" is no CPU.
func ParseCPUs(s string) ([]int, error) {
	if s == None {
		return nil, nil
	}
	var cpus []int
	seen := map[int]bool{}
	for _, item := range strings.Split(s, ",") {
		from, to, ranged := strings.Cut(item, "-")
		if !ranged {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 32)
		b, errB := strconv.ParseUint(to, 10, 32)
		if errA != nil || errB != nil || b < a {
			return nil, fmt.Errorf("%s is no list of CPUs: write numbers and ranges, as in 0-3,8, or %s", quoted(s), None)
		}
		if b >= maxCPU {
			return nil, fmt.Errorf("CPU %d is out of range: 0 to %d", b, maxCPU-1)
		}
		for n := int(a); n <= int(b); n++ {
			if seen[n] {
				return nil, fmt.Errorf("CPU %d is named twice in %s", n, quoted(s))
			}
			seen[n] = true
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}

// paramArg is the check of a test parameter's name.
func paramArg(name string) error {
	if _, ok := paramOf(name); !ok {
		names := make([]string, len(params))
		for i, p := range params {
			names[i] = p.name
		}
		return fmt.Errorf("%s is no parameter of a test: valid are %s", quoted(name), strings.Join(names, ", "))
	}
	return nil
}

// paramValue accepts what the parameter can be in some test. What it is in those
// of a plan shows when they are put together.
func paramValue(name, value string) error {
	p, ok := paramOf(name)
	if !ok {
		return paramArg(name)
	}
	if value == Default {
		return nil
	}
	var err error
	for _, k := range kinds {
		if !slices.Contains(k.Accepts, name) {
			continue
		}
		if err = p.set(&Params{}, k, value); err == nil {
			return nil
		}
	}
	return err
}
