// Package interop reads what other programs print, and what people paste of it.
package interop

import (
	"netdelta/internal/interop/iperf"
	"netdelta/internal/interop/neper"
	"netdelta/internal/interop/netperf"
	"netdelta/internal/interop/netpipe"
	"netdelta/internal/interop/ntttcp"
	"netdelta/internal/interop/nuttcp"
	"netdelta/internal/interop/ping"
	"netdelta/internal/interop/qperf"
	"netdelta/internal/interop/scan"
	"netdelta/internal/interop/sockperf"
	"netdelta/internal/interop/table"
)

// Tool is a program whose outputs are read.
type Tool struct {
	Name  string
	About string
	Read  scan.Reader
}

// tools is the table. A new program is a row here and a folder. Where two claim the
// same lines, the first has them.
var tools = []Tool{
	{"netperf", "classic text, omni CSV, key=value and human output, with confidence and CPU", netperf.Read},
	{"iperf", "iperf3 text and JSON, iperf2 text and CSV", iperf.Read},
	{"qperf", "with sweeps and -v", qperf.Read},
	{"sockperf", "ping-pong, under-load, throughput", sockperf.Read},
	{"ping", "iputils old and new, busybox, macOS; fping", ping.Read},
	{"neper", "tcp_rr, tcp_stream and the others, key=value", neper.Read},
	{"nuttcp", "intervals and totals", nuttcp.Read},
	{"NetPIPE", "NPtcp's table", netpipe.Read},
	{"ntttcp", "ntttcp-for-linux", ntttcp.Read},
	{"table", "a plain table in CSV or YAML, and mmtests' comparison", table.Read},
}

// Tools returns all of them.
func Tools() []Tool { return append([]Tool(nil), tools...) }

// Outcome is what was made of one file.
type Outcome struct {
	Name  string // of the file, without its folder
	Tests []scan.Test
	// Problems are the lines that nobody understood, and what readers said of others.
	Problems []scan.Problem
	Table    *scan.Table // nil where the file has no variants of its own
}
