package spec

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/unit"
)

// sweepSign stands between the two ends of a sweep of sizes.
const sweepSign = ".."

// maxSizes is the most sizes of one list: a slip of the pen, such as a sweep
// by single bytes, should not become a million tests.
const maxSizes = 1000

// ParseSizes reads a comma-separated list of message sizes in bytes, each from
// 1 to MaxMessage ("1,64,1KiB"), or sweeps of them: "1..1MiB*2" is 1, 2, 4 and
// so on up to 1 MiB, "64..1500+64" goes up by 64 bytes. The upper end is in a
// sweep only if a step hits it. A blank list is no size at all. Whether a test
// takes a size is for ParseTests to say.
func ParseSizes(list string) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	return parseSizes(list, MaxMessage)
}

func parseSizes(list string, limit int) ([]int, error) {
	var sizes []int
	for _, item := range strings.Split(list, ",") {
		some, err := parseSweep(strings.TrimSpace(item), limit)
		if err != nil {
			return nil, err
		}
		for _, n := range some {
			if slices.Contains(sizes, n) {
				return nil, fmt.Errorf("size %d is given twice", n)
			}
			sizes = append(sizes, n)
		}
		if len(sizes) > maxSizes {
			return nil, fmt.Errorf("%q are more than %d sizes", list, maxSizes)
		}
	}
	return sizes, nil
}

// parseSweep reads one size or one sweep.
func parseSweep(item string, limit int) ([]int, error) {
	first, rest, sweep := strings.Cut(item, sweepSign)
	from, err := parseBytes(first, limit)
	if err != nil {
		return nil, err
	}
	if !sweep {
		return []int{from}, nil
	}
	i := strings.IndexAny(rest, "*+")
	if i < 0 {
		return nil, fmt.Errorf("sweep %q has no step: write FROM..TO*FACTOR or FROM..TO+BYTES, as in 1..1MiB*2", item)
	}
	to, err := parseBytes(rest[:i], limit)
	if err != nil {
		return nil, err
	}
	if to < from {
		return nil, fmt.Errorf("sweep %q goes down: write the smaller size first", item)
	}
	step, err := parseBytes(rest[i+1:], limit)
	if err != nil {
		return nil, err
	}
	multiply := rest[i] == '*'
	if multiply && step < 2 {
		return nil, fmt.Errorf("sweep %q does not go up: the factor is at least 2", item)
	}
	var sizes []int
	for n := from; n <= to; {
		if sizes = append(sizes, n); len(sizes) > maxSizes {
			return nil, fmt.Errorf("sweep %q has more than %d sizes", item, maxSizes)
		}
		if multiply {
			n *= step
		} else {
			n += step
		}
	}
	return sizes, nil
}

func parseBytes(s string, limit int) (int, error) {
	n, err := unit.ParseSize(strings.TrimSpace(s))
	if err != nil {
		return 0, err
	}
	if n < 1 || n > int64(limit) {
		return 0, fmt.Errorf("size %d is out of range: 1 to %d bytes", n, limit)
	}
	return int(n), nil
}
