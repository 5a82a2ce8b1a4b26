// Package bpf counts in the kernel, by eBPF programs at its tracepoints, what
// each CPU does: exact times where /proc has samples of the tick.
//
// The programs are in count.bpf.c. What they compile to is kept beside them, so
// that building the project takes no compiler but Go's; go generate, with
// clang, makes it anew.
package bpf

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go@v0.22.0 -tags linux -type cpu count count.bpf.c -- -O2 -Wall -Werror
