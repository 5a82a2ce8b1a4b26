//go:build darwin || freebsd

package traffic

// sendMethods and recvMethods are those that every system has.
var sendMethods = []sendMethod{
	{"write", newWriteStream, newWriteDatagram},
}

var recvMethods = []recvMethod{
	{"recv", newRecvStream, newRecvDatagram},
}
