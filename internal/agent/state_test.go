package agent

import (
	"errors"
	"strings"
	"testing"

	"netdelta/internal/ctl"
)

// TestTransitions goes through every event in every state. What is not listed
// is out of order.
func TestTransitions(t *testing.T) {
	type move struct {
		from state
		by   event
	}
	legal := map[move]state{
		{idle, prepare}:     prepared,
		{prepared, arm}:     armed,
		{armed, run}:        running,
		{running, finished}: idle,
		{running, drain}:    draining,
		{draining, drained}: idle,
		{idle, set}:         idle,
		{idle, unset}:       idle,
	}
	for s := idle; s < states; s++ {
		legal[move{s, abort}] = idle
		legal[move{s, fail}] = idle
	}
	seen := 0
	for s := idle; s < states; s++ {
		for e := nothing; e < events; e++ {
			got, err := next(s, e)
			want, ok := legal[move{s, e}]
			if !ok {
				if !errors.Is(err, ctl.ErrState) || got != s {
					t.Errorf("%v, %v: got %v, error %v; want %v to stay, and %v", s, e, got, err, s, ctl.ErrState)
				}
				if err != nil && (!strings.Contains(err.Error(), s.String()) || !strings.Contains(err.Error(), e.String())) {
					t.Errorf("%v, %v: error %q names neither or only one", s, e, err)
				}
				continue
			}
			seen++
			if err != nil || got != want {
				t.Errorf("%v, %v: got %v, error %v; want %v", s, e, got, err, want)
			}
		}
	}
	if seen != len(legal) {
		t.Errorf("went through %d legal moves of %d", seen, len(legal))
	}
}

// From idle every state can be reached, and every one leads back.
func TestNoStateIsStray(t *testing.T) {
	reached := map[state]bool{idle: true}
	for range int(states) {
		for s := range reached {
			for e := prepare; e < events; e++ {
				if to, err := next(s, e); err == nil {
					reached[to] = true
				}
			}
		}
	}
	for s := idle; s < states; s++ {
		if !reached[s] {
			t.Errorf("%v cannot be reached", s)
		}
		if s.String() == "" {
			t.Errorf("state %d has no name", s)
		}
	}
	if reached[none] {
		t.Error("a move leads out of the machine")
	}
}
