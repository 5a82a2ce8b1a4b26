package traffic

// sendMethods is the table of ways to send.
var sendMethods = []sendMethod{
	{"write", newWriteStream, newWriteDatagram},
}

// recvMethods is the table of ways to receive.
var recvMethods = []recvMethod{
	{"recv", newRecvStream, newRecvDatagram},
}
