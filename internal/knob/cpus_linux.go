package knob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/spec"
)

// cpuList writes CPUs as the kernel does, in ascending ranges: "0-3,8". None are
// "none".
func cpuList(cpus []int) string {
	if len(cpus) == 0 {
		return spec.None
	}
	cpus = slices.Compact(slices.Sorted(slices.Values(cpus)))
	var b strings.Builder
	for i := 0; i < len(cpus); i++ {
		first := cpus[i]
		for i+1 < len(cpus) && cpus[i+1] == cpus[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if cpus[i] > first {
			b.WriteString("-" + strconv.Itoa(cpus[i]))
		}
	}
	return b.String()
}

// canonicalCPUs brings a list of CPUs to the one form that cpuList writes.
func canonicalCPUs(list string) (string, error) {
	cpus, err := spec.ParseCPUs(list)
	if err != nil {
		return "", err
	}
	return cpuList(cpus), nil
}

// maxMaskCPU is far beyond what any kernel is built for (NR_CPUS).
const maxMaskCPU = 1 << 16

// cpuMask writes CPUs as the kernel reads masks (bitmap_parse in lib/bitmap-str.c):
// hexadecimal words of 32 bits, the highest first, with commas between.
func cpuMask(cpus []int) (string, error) {
	words := []uint32{0}
	for _, n := range cpus {
		if n < 0 || n >= maxMaskCPU {
			return "", fmt.Errorf("CPU %d is out of range: 0 to %d", n, maxMaskCPU-1)
		}
		for n/32 >= len(words) {
			words = append(words, 0)
		}
		words[n/32] |= 1 << (n % 32)
	}
	slices.Reverse(words)
	text := strconv.FormatUint(uint64(words[0]), 16)
	for _, w := range words[1:] {
		text += fmt.Sprintf(",%08x", w)
	}
	return text, nil
}

// cpusOfMask reads what the kernel writes of a mask.
func cpusOfMask(mask string) ([]int, error) {
	words := strings.Split(strings.TrimSpace(mask), ",")
	if len(words) > maxMaskCPU/32 {
		return nil, fmt.Errorf("a CPU mask of %d words is too long", len(words))
	}
	slices.Reverse(words)
	var cpus []int
	for i, text := range words {
		w, err := strconv.ParseUint(text, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is no CPU mask: %w", mask, err)
		}
		for bit := range 32 {
			if w&(1<<bit) != 0 {
				cpus = append(cpus, 32*i+bit)
			}
		}
	}
	return cpus, nil
}

// checkOnline says which of the CPUs are not among those online, which the
// kernel lists: a setting that names one would do less than it says.
func checkOnline(cpus []int, online string) error {
	there, err := spec.ParseCPUs(strings.TrimSpace(online))
	if err != nil {
		return fmt.Errorf("which CPUs are online: %w", err)
	}
	for _, n := range cpus {
		if !slices.Contains(there, n) {
			return fmt.Errorf("CPU %d is not online: CPUs %s are", n, cpuList(there))
		}
	}
	return nil
}
