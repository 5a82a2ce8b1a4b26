// Package ether is emulated Ethernet: a wire of our own between two TAPs, and
// the table of contexts in which the far kernel handles what arrives.
//
// The wire runs in a process of its own, made by Start from the running
// binary, so that its threads, memory and faults are nobody else's. Each of
// its two directions is one pipe: a locked thread that reads frames from one
// TAP and passes them to a stage, which writes them to the other, at once or
// by a second thread. The process lives as long as the control socket that
// Start holds; when that closes, however its holder ended, the wire ends.
package ether
