//go:build linux || darwin || freebsd

package traffic

import "netdelta/internal/result"

// pacedUDPRR is the end of udp_rr that asks at a fixed rate.
type pacedUDPRR struct {
	udpRRLocal
	paced pacedExchange
}

func newPacedUDPRR(cfg Config) Engine { return &pacedUDPRR{udpRRLocal: udpRRLocal{cfg: cfg}} }

func (e *pacedUDPRR) Run() (result.End, error) {
	end, err := e.paced.run(e.cfg, &e.exchange)
	if err == nil {
		countAll(end.Counts, e.exchange.sentAll(), e.paced.receivedAll(), e.exchange.sock)
	}
	return end, err
}
