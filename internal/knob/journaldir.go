package knob

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// journalVar names the directory of the journal.
const journalVar = "NETDELTA_JOURNAL"

// DefaultJournal is the directory of the journal: /var/lib/netdelta/settings for
// root, or else netdelta/settings in $XDG_STATE_HOME or ~/.local/state.
// NETDELTA_JOURNAL names another.
func DefaultJournal() (string, error) {
	if dir := os.Getenv(journalVar); dir != "" {
		return filepath.Abs(dir)
	}
	if os.Geteuid() == 0 && !mapped() {
		return "/var/lib/netdelta/settings", nil
	}
	// A path that is not absolute counts as none (XDG base directory specification).
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return "", errors.New("no directory for the journal of settings: neither XDG_STATE_HOME nor HOME is set; name one with " + journalVar)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "netdelta", "settings"), nil
}

// mapped says whether this root is an ordinary user's, in a user namespace
// (user_namespaces(7)): /var/lib is not his.
func mapped() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	f := strings.Fields(string(text))
	return err == nil && (len(f) != 3 || f[1] != "0" || f[2] != "4294967295")
}
