package main

import (
	"fmt"
	"time"
)

// outcome is what rounds came to.
type outcome struct {
	rounds, failed int
	changed        int // rounds in which a setting was another way when the kill came
	journalled     int // entries that were left for somebody else to restore
	finished, kept int // trials
	slowest        time.Duration
}

func (o *outcome) add(other outcome) {
	o.rounds += other.rounds
	o.changed += other.changed
	o.journalled += other.journalled
	o.finished += other.finished
	o.kept += other.kept
	o.slowest = max(o.slowest, other.slowest)
}

// String is the outcome in words.
func (o outcome) String() string {
	return fmt.Sprintf(`%d kills: in %d a setting was another way at that moment, %d entries of journals were left behind
settings not put back, or journals not empty: %d rounds; the slowest took %v to be put back
trials that had finished: at least %d, kept: %d`, o.rounds, o.changed, o.journalled, o.failed, o.slowest.Round(time.Millisecond), o.finished, o.kept)
}

func (o outcome) err() error {
	if o.failed > 0 {
		return fmt.Errorf("%d of %d rounds failed", o.failed, o.rounds)
	}
	return nil
}
