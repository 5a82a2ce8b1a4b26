package counters

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/labtest/veth"
)

// What a sample of the sources of the network costs on a veth, and with many
// connections.
func BenchmarkNetworkSource(b *testing.B) {
	lab, link := veth.Pair(b)
	bench := func(name string, o *Options, open func(*Options) (source, error)) {
		s := openAt(b, lab.A, o, open)
		for _, parse := range []bool{false, true} {
			what := map[bool]string{false: name, true: name + "/parse"}[parse]
			b.Run(what, func(b *testing.B) {
				on(b, lab.A, func() error {
					for b.Loop() {
						x, err := s.take()
						if err == nil && parse {
							err = x.parsed()
						}
						if err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
	o := &Options{Device: lab.A.Device}
	bench("device", o, openDevice)
	bench("driver", o, openDriver)
	bench("qdisc", o, openQdisc)
	bench("snmp", o, openSNMP)
	for _, n := range []int{1, 64, 500} {
		from, _, _ := connections(b, lab, link, n)
		o := &Options{sockets: told(from...)}
		bench(fmt.Sprintf("tcp_info flows=%d", n), o, openTCPInfo)
		bench(fmt.Sprintf("sockets n=%d", n), o, openSockets)
	}
	udp := socketAt(b, lab.A, unix.SOCK_DGRAM, link.AddrA())
	bench("sockets udp", &Options{sockets: told(udp)}, openSockets)
}
