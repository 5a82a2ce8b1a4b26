package ether

// stage is what a pipe passes its frames to. The stage lends the room that
// the next frame is read into, so that no frame is copied in user space.
//
// The stages' methods are nosplit: the Go scheduler flags every thread that
// has held its P for 10 ms, also one that was blocked in a read, and would
// take the thread away at the next function entry that looks.
type stage interface {
	// buffer lends the room for one frame.
	buffer() []byte
	// pass takes the frame in the first n bytes of the room last lent.
	pass(n int)
}

// direct writes each frame to the far TAP at once, on the pipe's own thread.
type direct struct {
	to  outlet
	buf []byte
}

func newDirect(to outlet, f framer) *direct {
	return &direct{to: to, buf: make([]byte, f.room)}
}

//go:nosplit
func (d *direct) buffer() []byte { return d.buf }

//go:nosplit
func (d *direct) pass(n int) { d.to.deliver(d.buf[:n]) }
