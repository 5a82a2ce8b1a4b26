package counters

import (
	"fmt"
	"math"

	"netdelta/internal/sys"
)

// driverSource is what the driver of the path's interface counts, under the
// names that it gives (ethtool -S). Which of these only rise the driver alone
// knows: one that falls is left out. Several of one name are added up.
type driverSource struct{ stats *sys.DriverStats }

func openDriver(o *Options) (source, error) {
	name, err := o.device()
	if err != nil {
		return nil, err
	}
	stats, err := sys.OpenDriverStats(name)
	if err != nil {
		return nil, reason(err)
	}
	s := &driverSource{stats}
	if len(stats.Names()) == 0 {
		s.close()
		return nil, unavailable("the driver of %s has no counters of its own", name)
	}
	if _, err := s.take(); err != nil {
		s.close()
		return nil, reason(err)
	}
	return s, nil
}

func (s *driverSource) take() (*sample, error) {
	values, err := s.stats.Read()
	if err != nil {
		return nil, err
	}
	names := s.stats.Names()
	return &sample{parse: func(x *sample) error {
		for i, n := range names {
			if n != "" && values[i] <= math.MaxInt64 {
				x.counts[n] += int64(values[i])
			}
		}
		return nil
	}}, nil
}

func (s *driverSource) close() error {
	if err := s.stats.Close(); err != nil {
		return fmt.Errorf("close a socket for ethtool: %w", err)
	}
	return nil
}
