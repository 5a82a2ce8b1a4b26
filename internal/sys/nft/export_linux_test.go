package nft

import (
	"errors"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// OneMoreCounter does to the namespace's table what something else might.
func OneMoreCounter(ns *sys.NetNS) error {
	c, err := dial(ns)
	if err != nil {
		return err
	}
	return errors.Join(c.change(message{
		kind: of(unix.NFT_MSG_NEWRULE), flags: unix.NLM_F_CREATE | unix.NLM_F_APPEND, family: family, what: "a rule",
		attrs: []attr{text(unix.NFTA_RULE_TABLE, Name), text(unix.NFTA_RULE_CHAIN, seen), rule{counter}.encoded()},
	}), c.close())
}

// Remove removes the namespace's table behind its maker's back.
func Remove(ns *sys.NetNS) error {
	c, err := dial(ns)
	if err != nil {
		return err
	}
	return (&Table{conn: c}).Close()
}

// HasAsked reads the table back, as if it had been asked to look at other levels.
func (t *Table) HasAsked(level int, id uint64) error {
	return t.verify([]chain{{seen, nil, []rule{{counter}, matching(level, id)}}})
}
