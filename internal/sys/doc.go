// Package sys holds the raw system calls that the instrument is made of. It
// and the packages below it are the only ones that import unsafe.
//
// The calls of the hot path (Read, Write, Send, Recv and so on) use
// RawSyscall: the Go scheduler is not told of them, so they cost what they
// cost in C, and a thread that blocks in one keeps its P. Callers run them on
// a locked thread, give every wait a timeout (SO_RCVTIMEO) or a shutdown that
// ends it, and size GOMAXPROCS for the threads that block.
package sys
