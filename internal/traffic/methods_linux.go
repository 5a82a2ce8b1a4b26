package traffic

// sendMethods is the table of ways to send.
var sendMethods = []sendMethod{
	{"write", newWriteStream, newWriteDatagram},
	{"writev", newWritevStream, newWritevDatagram},
	{"read+write", newReadWrite, nil},
	{"mmap+write", newMmapWrite, nil},
	{"sendfile", newSendFile, nil},
	{"splice", newSpliceSend, nil},
	{"zerocopy", newZeroCopyStream, newZeroCopyDatagram},
	{"sendmmsg", nil, newSendmmsgDatagram},
	{"gso", nil, newGSODatagram},
	{"uring", newURingStream, newURingDatagram},
	{"uring-zc", newURingZCStream, newURingZCDatagram},
}

// recvMethods is the table of ways to receive.
var recvMethods = []recvMethod{
	{"recv", newRecvStream, newRecvDatagram},
	{"trunc", newTruncStream, newTruncDatagram},
	{"splice", newSpliceRecv, nil},
	{"zerocopy", newZeroCopyRecv, nil},
	{"recvmmsg", nil, newRecvmmsgDatagram},
	{"gro", nil, newGRODatagram},
	{"uring", newURingRecvStream, newURingRecvDatagram},
}
