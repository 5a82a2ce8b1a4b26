package sys

// Sock is the descriptor of a socket that a measuring loop drives.
//
// On Linux its methods carry no stack check. A stack check is where the
// scheduler takes a goroutine off its thread when it has run for 10 ms
// (asyncpreemptoff leaves that way open); for a locked thread this is two
// switches between threads, some hundred times in a second, each of which would
// be a slow round trip. A loop that calls only these, Nanotime and what the
// compiler inlines is never taken off.
//
// Elsewhere, and on Linux with the build tag portable, they are the calls of
// package unix, which tell the scheduler: system calls by number are no
// interface of those systems.
type Sock int
