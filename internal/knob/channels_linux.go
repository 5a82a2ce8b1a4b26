package knob

import (
	"context"
	"errors"
	"strings"

	"netdelta/internal/feature"
	"netdelta/internal/spec"
)

// channels is how many queues an interface has. With a queue that goes its own
// settings go, and one that comes has none, so that those of all queues are read
// before and put back after.
type channels struct {
	*number
	queues []queueSetting
}

func openChannels(p Place, s spec.Setting, arg string) (Control, error) {
	n, err := openNumber(p, s, channelCounts, arg)
	if err != nil {
		return nil, err
	}
	c := channels{number: n.(*number)}
	for _, k := range []queueKind{rpsCPUs, rpsFlows, xpsCPUs} {
		c.queues = append(c.queues, queueSetting{p, k.file, k})
	}
	return c, nil
}

// besides begins each queue setting in what Read returns.
const besides = " + "

// Read returns the number, and where queues have settings what those are:
// "4 + rps_cpus rx-0:none rx-1:1".
func (c channels) Read(ctx context.Context) (string, error) {
	text, err := c.number.Read(ctx)
	if err != nil {
		return "", err
	}
	for _, q := range c.queues {
		value, err := q.Read(ctx)
		if errors.Is(err, feature.ErrUnavailable) {
			continue // as there are none with a single queue
		}
		if err != nil {
			return "", err
		}
		if value != "0" && value != spec.None {
			text += besides + q.knob + " " + value
		}
	}
	return text, nil
}

// Restore sets the number, and then what the queues had.
func (c channels) Restore(ctx context.Context, was string) error {
	words := strings.Split(was, besides)
	if err := c.number.Restore(ctx, words[0]); err != nil {
		return err
	}
	had := map[string]string{}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, " ")
		had[name] = value
	}
	for _, q := range c.queues {
		if value, ok := had[q.knob]; ok {
			if err := q.Restore(ctx, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// Equal looks at the number that was asked for, or at all that was read.
func (c channels) Equal(read, asked string) bool {
	if strings.Contains(asked, besides) {
		return read == asked
	}
	is, _, _ := strings.Cut(read, besides)
	return is == asked
}
