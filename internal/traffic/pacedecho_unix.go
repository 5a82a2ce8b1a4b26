//go:build linux || darwin || freebsd

package traffic

import "netdelta/internal/result"

// pacedEcho is icmp_echo at a fixed rate.
type pacedEcho struct {
	echo
	paced pacedExchange
}

func newPacedEcho(cfg Config) Engine { return &pacedEcho{echo: echo{cfg: cfg}} }

func (e *pacedEcho) Run() (result.End, error) { return e.paced.run(e.cfg, &e.exchange) }
