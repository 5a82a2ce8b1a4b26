package netlab

import (
	"errors"
	"fmt"

	"netdelta/internal/feature"
	"netdelta/internal/sys/nft"
)

// Classify has each host count the TCP and UDP packets that come from its link
// ("classified_all" of Link.Counts) and those of them whose socket is of the host's
// control group ("classified_cgroup"), until the lab is closed. It makes these groups,
// for the hosts' workers to be started in (Host.Group). Where a frame is handled, another
// process may run than the one that it is for, such as the wire, which is in this
// process's group: what goes by control group is right only if it goes by the socket's.
//
// An error says what is missing, and then nothing has been made: the lab can be used
// without. Packets that have no whole socket are of no group; nft.Count tells which.
func (l *Lab) Classify() error {
	if err := feature.SocketGroup.Err(); err != nil {
		return err
	}
	for _, h := range []*Host{l.A, l.B} {
		if err := h.classify(); err != nil {
			return errors.Join(fmt.Errorf("host %s: %w", h.Name, err), l.A.unclassify(), l.B.unclassify())
		}
	}
	return nil
}

// classify makes the host's group and what counts by it. Links come and go, and have
// the same name.
func (h *Host) classify() (err error) {
	if h.classes != nil {
		return nil
	}
	if h.group, err = newGroup(h.Name); err != nil {
		return err
	}
	h.Group = h.group.dir
	h.classes, err = nft.Count(h.NS, h.Device, h.group.Group)
	return err
}

// unclassify takes away what classify made.
func (h *Host) unclassify() error {
	var errs []error
	if h.classes != nil {
		errs = append(errs, h.classes.Close())
	}
	if h.group != nil {
		errs = append(errs, h.group.close())
	}
	h.classes, h.group, h.Group = nil, nil, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("host %s: %w", h.Name, err)
	}
	return nil
}

// addClasses adds what has been counted by control group.
func (h *Host) addClasses(counts map[string]int64) error {
	if h.classes == nil {
		return nil
	}
	n, err := h.classes.Read()
	if err != nil {
		return fmt.Errorf("host %s: %w", h.Name, err)
	}
	counts[h.Name+".classified_all"], counts[h.Name+".classified_cgroup"] = n.All, n.Group
	return nil
}
