package traffic

// checksum is the Internet checksum of b (RFC 1071).
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
		sum = sum&0xffff + sum>>16
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	sum = sum&0xffff + sum>>16
	return ^uint16(sum&0xffff + sum>>16)
}

// stepChecksum brings the checksum in b up to date after a 16-bit number that
// it covers has been counted up by one to now: HC' = ~(~HC + ~m + m') with the
// carries added in (RFC 1624).
func stepChecksum(b []byte, now uint16) {
	before := now - 1
	sum := uint32(^(uint16(b[0])<<8 | uint16(b[1]))) + uint32(^before) + uint32(now)
	sum = sum&0xffff + sum>>16
	sum = ^(sum&0xffff + sum>>16)
	b[0], b[1] = byte(sum>>8), byte(sum)
}
