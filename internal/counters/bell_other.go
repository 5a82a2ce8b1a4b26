//go:build !linux

package counters

import "time"

// bell wakes a thread that waits, from any other.
type bell struct{ rung chan struct{} }

func newBell() (*bell, error) { return &bell{make(chan struct{}, 1)}, nil }

// ring wakes who waits, or will wait next.
func (b *bell) ring() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// wait returns when the bell was rung, or so much time is over, if that is above
// 0.
func (b *bell) wait(d time.Duration) {
	if d <= 0 {
		<-b.rung
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.rung:
	case <-timer.C:
	}
}

func (*bell) close() error { return nil }
