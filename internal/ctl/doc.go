// Package ctl is the control protocol between a coordinator and the agents of
// hosts: a client with sessions, a server that mounts any [Host], and the
// transports that join them. The messages are those of proto/control.proto,
// carried by Connect over HTTP/1.1.
//
// Nothing of the protocol is sent while a window is being measured: the calls
// come before and after it, and the event stream is silent meanwhile, unless
// figures of intervals are asked for. Only the kernel's keepalive probes pass
// between two hosts, one small segment in some seconds.
//
// A transport is anything that listens or dials: [Pipe] stays in the process,
// [Unix] is a socket on the host, [TCP] goes between hosts and is encrypted
// unless both ends ask for it not to be. All carry real HTTP connections, so
// calls, streams, cancellation and a client's death work alike on each.
package ctl

// The versions of the control protocol that this program speaks. Client and
// agent use the newest that both do. A release that changes the protocol goes
// on speaking the one before, or raises MinProtocol and is then refused, with
// both versions named.
const (
	Protocol    = 4
	MinProtocol = 2
)
