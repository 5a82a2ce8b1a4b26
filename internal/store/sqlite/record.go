package sqlite

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"runtime"
	"sync"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// castagnoli is the CRC-32C that CPUs compute by themselves. SQLite has no
// checksum of its own, and a figure in a record with one bit turned would
// still be a figure.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is what the column beside a record holds.
func sum(record []byte) int64 { return int64(crc32.Checksum(record, castagnoli)) }

// checkSum refuses a record that is not the one that was written.
func checkSum(record []byte, want int64) error {
	if got := sum(record); got != want {
		return fmt.Errorf("%w: its checksum is %08x, %08x was stored", store.ErrCorrupt, got, want)
	}
	return nil
}

// kept is a trial in the form in which its row holds it.
type kept struct {
	record                []byte
	test, variant         string
	block, order, attempt int
}

// encode makes rows of trials, on all CPUs if there are many: it takes longer
// than writing them. The first trial that can't be kept is the error.
func encode(trials []result.Trial) ([]kept, error) {
	rows := make([]kept, len(trials))
	errs := make([]error, len(trials))
	forEach(len(trials), func(i int) { rows[i], errs[i] = encodeOne(trials[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("trial %d of %d: %w", i+1, len(trials), err)
		}
	}
	return rows, nil
}

func encodeOne(t result.Trial) (kept, error) {
	record, err := result.Encode(t)
	if err != nil {
		return kept{}, err
	}
	test, err := json.Marshal(t.Test)
	if err != nil {
		return kept{}, err
	}
	variant, err := json.Marshal(t.Variant)
	if err != nil {
		return kept{}, err
	}
	return kept{record, string(test), string(variant), t.Block, t.Order, t.Attempt}, nil
}

// forEach calls f for 0 to n-1, on all CPUs in stretches large enough to be
// worth a goroutine.
func forEach(n int, f func(i int)) {
	const least = 16
	workers := min(runtime.GOMAXPROCS(0), (n+least-1)/least)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	all.Wait()
}
