package knob

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"netdelta/internal/result"
	"netdelta/internal/spec"
	"netdelta/internal/sys"
)

// Holder holds the settings that one session has changed, and what they were.
// Its methods may be called by several goroutines, one after the other.
type Holder struct {
	cfg Config

	mu   sync.Mutex
	ns   sys.NetNSID
	end  string
	j    *journal
	held []*held  // in the order in which they were first changed
	left []string // the journal's names of what could not be restored when it was tried
	// ups and peers are what was before the first change: whether an interface, by
	// its index, was up, and whether a far end answered.
	ups   map[int]bool
	peers map[netip.Addr]bool
	// root and patience are of tests: see Place, and settleLimit.
	root     string
	patience time.Duration
}

// NewHolder returns a holder of nothing yet.
func NewHolder(cfg Config) *Holder {
	return &Holder{cfg: cfg, ups: map[int]bool{}, peers: map[netip.Addr]bool{}}
}

// Set makes every setting of the request hold, and returns those that were
// another way, in the order in which they were changed. What a setting was
// before its first change is journalled before that; what has the asked value
// already is left alone, but journalled and locked all the same. A setting that
// reads back otherwise is an error. What an earlier Set asked for and this one
// does not is restored first, and is among the changes. After an error what was
// changed stays, to be restored. The setting that somebody else holds is ErrHeld.
func (h *Holder) Set(ctx context.Context, r Request) ([]result.Change, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(r.Settings) == 0 && len(h.held) == 0 {
		return nil, nil
	}
	if err := h.begin(r); err != nil {
		return nil, err
	}
	changes, err := h.letGo(ctx, r)
	if err != nil {
		return changes, errors.Join(err, h.idle())
	}
	turns := map[string]int{}
	for _, s := range r.Settings {
		t, err := h.resolve(r, s, nextTurn(turns, s))
		if err != nil {
			return changes, errors.Join(err, h.idle())
		}
		c, err := h.make(ctx, r, t)
		if c != nil {
			changes = append(changes, *c)
		}
		if err != nil {
			return changes, errors.Join(err, h.idle())
		}
	}
	return changes, h.idle()
}

// nextTurn counts the commands of a request that have one restore.
func nextTurn(turns map[string]int, s spec.Setting) int {
	if s.Command == nil {
		return 0
	}
	turn := turns[s.Command.Restore]
	turns[s.Command.Restore]++
	return turn
}

// begin takes note of the end, and opens the journal.
func (h *Holder) begin(r Request) error {
	h.end = r.End
	return h.open()
}

// open opens the journal, which stays open while anything is held.
func (h *Holder) open() error {
	if h.j != nil {
		return nil
	}
	path := h.cfg.Journal
	var err error
	if path == "" {
		if path, err = DefaultJournal(); err != nil {
			return err
		}
	}
	if h.ns, err = h.cfg.NS.ID(); err != nil {
		return err
	}
	h.j, err = openJournal(path, true)
	return err
}

// idle closes the journal if nothing is held.
func (h *Holder) idle() error {
	if len(h.held) > 0 || h.j == nil {
		return nil
	}
	err := h.j.close()
	h.j = nil
	return err
}

// letGo restores, the last change first, what the request asks no longer for. It
// finds out first whether two of its settings contradict each other. What cannot
// be opened yet is told of when its turn comes: a command may bring it.
func (h *Holder) letGo(ctx context.Context, r Request) ([]result.Change, error) {
	asks := map[string]spec.Setting{}
	turns := map[string]int{}
	for _, s := range r.Settings {
		t, err := h.resolve(r, s, nextTurn(turns, s))
		if err != nil {
			continue
		}
		if other, twice := asks[t.id]; twice && asked(other) != asked(s) {
			return nil, fmt.Errorf("%s and %s are one setting, and ask for two values: have one factor set it", other, s)
		}
		asks[t.id] = s
	}
	var changes []result.Change
	for _, one := range slices.Backward(slices.Clone(h.held)) {
		if _, keep := asks[one.id]; keep {
			continue
		}
		c, err := h.finish(ctx, one)
		if c != nil {
			settled, slow := h.settle(ctx, r, one.target)
			c.Settled = settled
			changes = append(changes, *c)
			err = errors.Join(err, slow)
		}
		if err != nil {
			return changes, err
		}
	}
	return changes, nil
}

// finish restores one setting and lets it go. What has gone needs no restoring.
func (h *Holder) finish(ctx context.Context, one *held) (*result.Change, error) {
	c, err := one.restore(ctx, h.end)
	if err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	h.held = slices.DeleteFunc(h.held, func(o *held) bool { return o == one })
	return c, one.free()
}

// make makes one setting hold.
func (h *Holder) make(ctx context.Context, r Request, t target) (*result.Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := h.before(ctx, r, t); err != nil {
		return nil, err
	}
	one, err := h.hold(ctx, r, t)
	if errors.Is(err, ErrHeld) {
		return nil, h.share(ctx, r, t, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := one.set(ctx, r.End)
	if c == nil || err != nil {
		return nil, err
	}
	c.Settled, err = h.settle(ctx, r, t)
	return c, err
}

// hold locks and journals a setting, unless it is held already.
func (h *Holder) hold(ctx context.Context, r Request, t target) (*held, error) {
	if i := slices.IndexFunc(h.held, func(o *held) bool { return o.id == t.id }); i >= 0 {
		one := h.held[i]
		if one.ifindex == t.ifindex {
			return one, h.relevel(one, t)
		}
		// Another interface of that name: with the former one its settings went.
		h.held = slices.Delete(h.held, i, i+1)
		if err := one.free(); err != nil {
			return nil, err
		}
	}
	l, err := h.j.take(ctx, t.id)
	if err != nil {
		return nil, fmt.Errorf("%s was not changed: %w", t.setting, err)
	}
	one := &held{target: t, origin: t.ctl, lock: l}
	was, err := t.ctl.Read(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: read what it is: %w", t.setting, err), l.release())
	}
	if t.setting.Command != nil {
		was = unknown
	}
	if one.rec, err = h.record(r, t, was); err == nil {
		err = h.j.write(l.stem, one.rec)
	}
	if err != nil {
		// There may be a record of it, that of no change.
		return nil, errors.Join(fmt.Errorf("%s was not changed: what it is could not be kept: %w", t.setting, err), h.j.drop(l.stem+recordEnd), l.release())
	}
	h.held = append(h.held, one)
	return one, nil
}

// relevel makes a held setting one of another level. The restore that a command
// brings with it is on disk before the command is run.
func (h *Holder) relevel(one *held, t target) error {
	one.again(t)
	if t.setting.Command == nil {
		return nil
	}
	next := one.rec
	next.Setting, next.Device, next.Peer = t.setting, t.place.Device, t.place.Peer
	if same(next, one.rec) {
		return nil
	}
	if err := h.j.write(one.lock.stem, next); err != nil {
		return fmt.Errorf("%s was not changed: %w", t.setting, err)
	}
	one.rec = next
	return nil
}

func same(a, b record) bool {
	return a.Setting.Value == b.Setting.Value && *a.Setting.Command == *b.Setting.Command && a.Device == b.Device && a.Peer == b.Peer
}

func (h *Holder) record(r Request, t target, was string) (record, error) {
	boot, err := bootID()
	if err != nil {
		return record{}, err
	}
	started, err := startOf(os.Getpid())
	if err != nil {
		return record{}, err
	}
	rec := record{Boot: boot, NS: h.ns, Own: h.cfg.NS == nil, InUserNS: mapped(), Device: t.place.Device, Ifindex: t.ifindex, Started: started, Turn: t.place.turn}
	rec.Entry = Entry{Setting: t.setting, End: r.End, ID: t.id, Was: was, Who: h.cfg.Who, PID: os.Getpid(), Since: time.Now().Round(0)}
	if t.setting.Command != nil {
		rec.Peer = t.place.Peer
	}
	return rec, nil
}

// Restore puts everything back, the last change first, and lets it go. It tries
// all, and returns what failed. That stays in the journal, where a later Restore
// tries it again unless somebody else has restored it meanwhile.
func (h *Holder) Restore(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.retry(ctx)
	for _, one := range slices.Backward(h.held) {
		if _, err := one.restore(ctx, h.end); err != nil && !errors.Is(err, errGone) {
			h.left = append(h.left, one.lock.stem)
			all = errors.Join(all, err, one.lock.release())
			continue
		}
		all = errors.Join(all, one.free())
	}
	h.held = nil
	return errors.Join(all, h.idle())
}

// retry restores what an earlier Restore could not.
func (h *Holder) retry(ctx context.Context) (all error) {
	if len(h.left) == 0 {
		return nil
	}
	if err := h.open(); err != nil {
		return err
	}
	left := h.left
	h.left = nil
	for _, stem := range left {
		if err := h.j.undo(ctx, stem); err != nil {
			h.left = append(h.left, stem)
			all = errors.Join(all, err)
		}
	}
	return all
}
