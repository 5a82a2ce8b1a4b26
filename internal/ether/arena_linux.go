package ether

// arena is room for frames that come and go in order. They lie one behind the
// other, and each is read into the room of a full one. An empty arena starts again
// at the front, so that who keeps up finds its frames in the cache.
type arena struct {
	buf  []byte
	room int // bytes of the longest frame
	at   int // where the next frame goes
}

// newArena has so many bytes, and as many as two frames need at least.
func newArena(room, bytes int) arena {
	return arena{buf: make([]byte, max(bytes, 2*aligned(room))), room: room}
}

// aligned rounds up to two cache lines: two threads are at work on
// neighbouring frames.
//
//go:nosplit
func aligned(n int) int { return (n + 127) &^ 127 }

// empty is the room for the next frame when there is none.
//
//go:nosplit
func (a *arena) empty() []byte {
	a.at = 0
	return a.buf[:a.room]
}

// behind is the room for the next frame when the oldest begins there; nil if
// there is no room.
//
//go:nosplit
func (a *arena) behind(oldest int) []byte {
	// Used is from the oldest frame to at, or all but from at to the oldest.
	end := len(a.buf)
	switch {
	case a.at <= oldest:
		end = oldest
	case end-a.at < a.room:
		a.at, end = 0, oldest
	}
	if end-a.at < a.room {
		return nil
	}
	return a.buf[a.at : a.at+a.room]
}

// took says that the next frame is n bytes of the room last lent.
//
//go:nosplit
func (a *arena) took(n int) { a.at += aligned(n) }
