// Package ctl is the control protocol between a coordinator and the agents of
// hosts: a client with sessions, a server that mounts any [Host], and the
// transports that join them. The messages are those of proto/control.proto,
// carried by Connect over HTTP/1.1.
//
// Nothing of the protocol is sent while a window is being measured: the calls
// come before and after it, and the event stream is silent meanwhile.
//
// A transport is anything that listens or dials: [Pipe] stays in the process,
// [Unix] is a socket on the host. Both carry real HTTP connections, so calls,
// streams, cancellation and a client's death work alike on each. An encrypted
// transport is one more [Transport] and a listener for [Serve].
package ctl

// Protocol is the version of the control protocol. Both sides must have the
// same one.
const Protocol = 1
