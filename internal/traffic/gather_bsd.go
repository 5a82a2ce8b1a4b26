//go:build darwin || freebsd

package traffic

// gather does nothing: whether a receiver that sleeps until much has come is
// woken at its timeout with what there is, is only known of Linux.
func (*socket) gather(Config) error { return nil }
