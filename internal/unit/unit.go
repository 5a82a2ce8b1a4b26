// Package unit is quantities with units: the units in which metrics are
// kept, exact readers for sizes and bit rates, and readable scales for print.
//
// Sizes and rates are read without floating point, and a text that people
// read in two ways (128k, 100Mbps) is refused with an error that names both.
// A unit is always written with its base: MB is 10^6 bytes, MiB is 2^20
// bytes, Mbit/s is 10^6 bits per second (IEC 80000-13). All output is ASCII.
package unit

// Unit is the base unit in which a metric's value is kept and exchanged.
type Unit string

const (
	Nanoseconds   Unit = "ns"
	BitsPerSecond Unit = "bit/s"
	PerSecond     Unit = "1/s"
	// Share is a part of a whole, from 0 to 1.
	Share Unit = "share"
	Bytes Unit = "B"
	// Number is a number of things.
	Number Unit = "count"
	// Seconds is SI seconds; latencies are kept in Nanoseconds instead.
	Seconds Unit = "s"
	// SecondsPerSecond is CPU time used per elapsed time: 1 is one CPU busy.
	SecondsPerSecond Unit = "s/s"
	BytesPerPacket   Unit = "B/packet"
	PerPacket        Unit = "1/packet"
	PerOp            Unit = "1/op"
	SecondsPerByte   Unit = "s/B"
	SecondsPerOp     Unit = "s/op"
	// CyclesPerByte and CyclesPerOp are of a CPU's clock.
	CyclesPerByte Unit = "cycles/B"
	CyclesPerOp   Unit = "cycles/op"
)
