package sqlite

import (
	"os"
	"sync"
)

// leaseState is what is known of who measures a run.
type leaseState int

const (
	leaseUnknown leaseState = iota // this system can't tell
	leaseFree                      // nobody: if the run is not finished, it was cut off
	leaseHeld                      // some process, perhaps this one
)

// lease tells runs that are being measured from runs that were cut off: the
// process that begins a run locks the byte with the run's key in a file beside
// the store, and the kernel unlocks it when that process is gone, by whatever
// death. The file stays empty.
type lease struct {
	mu   sync.Mutex
	file *os.File         // nil: nothing is known of other processes
	held map[string]int64 // keys of this store's own runs, by id
}

// openLease opens the file of the store at path. A store works without one.
func openLease(path string, writable bool) *lease {
	l := &lease{held: map[string]int64{}}
	if !leasesWork {
		return l
	}
	flags := os.O_RDONLY
	if writable {
		flags = os.O_RDWR | os.O_CREATE
	}
	if f, err := os.OpenFile(path+"-lease", flags, 0o600); err == nil {
		l.file = f
	}
	return l
}

func (l *lease) take(id string, key int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[id] = key
	if l.file != nil {
		lockByte(l.file, key)
	}
}

func (l *lease) release(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, ok := l.held[id]
	if !ok {
		return
	}
	delete(l.held, id)
	if l.file != nil {
		unlockByte(l.file, key)
	}
}

// state says who has the run with that key.
func (l *lease) state(key int64) leaseState {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, own := range l.held {
		if own == key {
			return leaseHeld
		}
	}
	if l.file == nil {
		return leaseUnknown
	}
	return testByte(l.file, key)
}

// close gives up what is held. Safe on nil.
func (l *lease) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
