package spec

import "slices"

// Method is a way to hand data to the kernel or to get it back: a row of one
// of the two tables of methods. Package traffic has the calls.
type Method struct {
	Name      string
	Protocols []Protocol
	// File says that what is sent comes from a file.
	File bool
	// Many says that the method also serves more flows than threads.
	Many  bool
	About string
}

var (
	onTCP  = []Protocol{TCP}
	onUDP  = []Protocol{UDP}
	onBoth = []Protocol{UDP, TCP}
)

// The first row of each table is the default.
var (
	sendMethods = []Method{
		{"write", onBoth, false, true, "write(2), one message a call"},
		{"writev", onBoth, false, false, "writev(2), a message in several pieces"},
		{"read+write", onTCP, true, false, "read(2) from a file, write(2)"},
		{"mmap+write", onTCP, true, false, "write(2) from a mapped file"},
		{"sendfile", onTCP, true, false, "sendfile(2) from a file"},
		{"splice", onTCP, true, false, "splice(2) from a file through a pipe"},
		{"zerocopy", onBoth, false, false, "send(2) with MSG_ZEROCOPY, completions read"},
		{"sendmmsg", onUDP, false, true, "sendmmsg(2), many datagrams a call"},
		{"gso", onUDP, false, true, "UDP_SEGMENT, many datagrams as one"},
		{"uring", onBoth, false, false, "io_uring send"},
		{"uring-zc", onBoth, false, false, "io_uring send without copying"},
	}
	recvMethods = []Method{
		{"recv", onBoth, false, true, "recv(2)"},
		{"trunc", onBoth, false, false, "recv(2) with MSG_TRUNC: the payload is not copied"},
		{"splice", onTCP, false, false, "splice(2) through a pipe to /dev/null"},
		{"recvmmsg", onUDP, false, true, "recvmmsg(2), many datagrams a call"},
		{"gro", onUDP, false, true, "UDP_GRO, many datagrams as one"},
		{"zerocopy", onTCP, false, false, "TCP_ZEROCOPY_RECEIVE: pages are mapped, not copied"},
		{"uring", onBoth, false, false, "io_uring receive"},
	}
)

// SendMethods and RecvMethods return the tables of methods, the default first.
func SendMethods() []Method { return slices.Clone(sendMethods) }

// RecvMethods is explained with SendMethods.
func RecvMethods() []Method { return slices.Clone(recvMethods) }

// methodNames are those of the methods that a protocol has.
func methodNames(table []Method, p Protocol) []string {
	var names []string
	for _, m := range table {
		if slices.Contains(m.Protocols, p) {
			names = append(names, m.Name)
		}
	}
	return names
}

func methodOf(table []Method, name string) Method {
	if name == "" {
		return table[0]
	}
	i := slices.IndexFunc(table, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}
	}
	return table[i]
}

// SendMethod is the way in which the test's sender hands data to the kernel.
func (t Test) SendMethod() Method { return methodOf(sendMethods, t.Params.Send) }

// RecvMethod is the way in which the test's receiver gets data back.
func (t Test) RecvMethod() Method { return methodOf(recvMethods, t.Params.Recv) }
