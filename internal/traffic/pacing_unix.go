//go:build linux || darwin || freebsd

package traffic

import (
	"fmt"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

// WarnPacing: SO_MAX_PACING_RATE was asked for, and nothing keeps to it.
const WarnPacing = "pacing-ignored"

// pacingSlack is how much more than its pacing rate a sender may hand to its
// kernel: a share of it that a short window and a queue that fills make up for.
const pacingSlack = 0.1

// pacingIgnored warns if a sender of datagrams, of so many flows, sent more in
// its window than it was to. TCP keeps to it by itself.
func pacingIgnored(t spec.Test, flows int, end result.End) []result.Warning {
	most := float64(t.Params.Pacing) * float64(flows)
	if most == 0 || end.Elapsed <= 0 {
		return nil
	}
	offered := 8 * float64(end.Bytes) / end.Elapsed.Seconds()
	if offered <= (1+pacingSlack)*most {
		return nil
	}
	return []result.Warning{{Code: WarnPacing,
		Advice: "datagrams are only paced by fq (tc qdisc replace dev DEVICE root fq), or give a rate, which the sender keeps itself",
		Text:   fmt.Sprintf("a pacing rate of %s was asked for, and %s was sent", unit.Format(most, unit.BitsPerSecond), unit.Format(offered, unit.BitsPerSecond))}}
}
