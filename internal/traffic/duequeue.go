package traffic

// dueQueue are the times at which the requests of a connection were due that
// have not been answered, in their order. It allocates nothing once made.
type dueQueue struct {
	ring       []int64 // a power of two
	head, tail uint64  // of the oldest, and one past the newest
}

// queueSize is how many requests can be outstanding on a connection.
const queueSize = 1 << 16

func newDueQueue() dueQueue {
	q := dueQueue{ring: make([]int64, queueSize)}
	for i := range q.ring {
		q.ring[i] = 1 // so that there is real memory behind it
	}
	return q
}

//go:nosplit
func (q *dueQueue) len() int { return int(q.tail - q.head) }

//go:nosplit
func (q *dueQueue) full() bool { return q.len() == len(q.ring) }

//go:nosplit
func (q *dueQueue) empty() bool { return q.len() == 0 }

// put takes note of a request; the queue must not be full.
//
//go:nosplit
func (q *dueQueue) put(due int64) {
	q.ring[q.tail&uint64(len(q.ring)-1)] = due
	q.tail++
}

// get takes the oldest; the queue must not be empty.
//
//go:nosplit
func (q *dueQueue) get() int64 {
	due := q.ring[q.head&uint64(len(q.ring)-1)]
	q.head++
	return due
}
