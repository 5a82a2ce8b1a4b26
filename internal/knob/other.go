//go:build !linux

package knob

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"netdelta/internal/feature"
	"netdelta/internal/result"
)

// What follows stands in for Linux's on other systems.

func needsLinux(what string) error {
	return &feature.Error{Feature: "settings of a host", Tried: what, Need: "Linux", Kernel: runtime.GOOS, Err: errors.ErrUnsupported}
}

// Holder holds nothing here.
type Holder struct{ cfg Config }

// NewHolder returns a holder of nothing.
func NewHolder(cfg Config) *Holder { return &Holder{cfg: cfg} }

// Set reports that settings need Linux, if any are asked for.
func (h *Holder) Set(_ context.Context, r Request) ([]result.Change, error) {
	if len(r.Settings) == 0 {
		return nil, nil
	}
	return nil, needsLinux(fmt.Sprintf("set %s for %q", r.Settings[0], h.cfg.Who))
}

// Restore has nothing to do.
func (h *Holder) Restore(context.Context) error { return nil }

// Pending finds nothing.
func Pending(string) ([]Entry, error) { return nil, nil }

// Recover finds nothing.
func Recover(context.Context, string) ([]Entry, error) { return nil, nil }
