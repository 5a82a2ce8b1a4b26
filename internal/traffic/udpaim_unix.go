//go:build linux || darwin || freebsd

package traffic

import "fmt"

// aimedSender is a send method that serves several flows in turns.
type aimedSender interface {
	datagramSender
	// join readies one more socket, and aim has the method send on it until it
	// is aimed elsewhere.
	join(*socket) error
	aim(*socket)
}

func (m *writeDatagram) join(*socket) error { return nil }

//go:nosplit
func (m *writeDatagram) aim(s *socket) { m.sock = s.Sock }

// share has the method serve all flows of the sender.
func (e *udpSender) share(name string) error {
	var ok bool
	if e.aim, ok = e.method.(aimedSender); !ok {
		return fmt.Errorf("send method %s serves one flow in each thread: give as many threads as flows", name)
	}
	for _, f := range e.flows[1:] {
		if err := e.aim.join(f.sock); err != nil {
			return err
		}
	}
	return nil
}
