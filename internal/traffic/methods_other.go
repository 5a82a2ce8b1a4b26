//go:build darwin || freebsd

package traffic

// sourceOf refuses: no method here sends a file.
func sourceOf(cfg Config) (source, error) {
	return nil, noMethod("send", cfg.Test.SendMethod().Name)
}

// sendMethods and recvMethods are those that every system has.
var sendMethods = []sendMethod{
	{"write", newWriteStream, newWriteDatagram},
}

var recvMethods = []recvMethod{
	{"recv", newRecvStream, newRecvDatagram},
}
