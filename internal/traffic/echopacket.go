package traffic

// The head of an echo message, for ICMP (RFC 792) and ICMPv6 (RFC 4443) alike:
// type, code, checksum, identifier, sequence number.
const (
	echoHeader     = 8
	echoChecksumAt = 2
	echoIDAt       = 4
	echoSequenceAt = 6

	echoRequest4, echoReply4 = 8, 0
	echoRequest6, echoReply6 = 128, 129
)

// echoRequest builds a request with sequence number 0 and size bytes after the
// header. The checksum is right for ICMP; for ICMPv6, which covers addresses
// too, the kernel puts in the right one.
func echoRequest(kind byte, id uint16, size int) []byte {
	b := make([]byte, echoHeader+size)
	b[0] = kind
	putSequence(b[echoIDAt:echoIDAt+2], uint64(id))
	for i := range b[echoHeader:] {
		b[echoHeader+i] = byte(i)
	}
	putSequence(b[echoChecksumAt:echoChecksumAt+2], uint64(checksum(b)))
	return b
}
