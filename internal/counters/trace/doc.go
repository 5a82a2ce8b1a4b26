// Package trace tells when the messages of one flow were where in the kernel, by
// eBPF programs at its tracepoints: handed to the queueing discipline and to the
// driver, received, put into the socket; and when the thread that waits for them
// was woken and ran.
//
// The programs are in trace.bpf.c. What they compile to is kept beside them, so
// that building the project takes no compiler but Go's; go generate, with
// clang, makes it anew.
package trace

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go@v0.22.0 -tags linux -type event trace trace.bpf.c -- -O2 -Wall -Werror -Wno-logical-op-parentheses
