package counters

// busier is a source that has threads of its own at work while the test runs.
type busier interface {
	// start has them begin. It returns at once.
	start()
	// apart is the CPU time that they have taken so far, in nanoseconds.
	apart() int64
}

// busy has the sources that have threads of their own start those.
func (s *Sampler) busy() {
	for i := range s.taking {
		if b, ok := s.taking[i].source.(busier); ok {
			b.start()
		}
	}
}

// Apart is the CPU time so far, in nanoseconds, of threads of this process that
// are none of the test's but have as much to do as they get time for: loops of
// idle priority. It may be asked for between Begin and Close.
func (s *Sampler) Apart() int64 {
	var sum int64
	for i := range s.taking {
		if b, ok := s.taking[i].source.(busier); ok {
			sum += b.apart()
		}
	}
	return sum
}
