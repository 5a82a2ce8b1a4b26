package ctl

import "fmt"

// span is the versions of the protocol that a side speaks.
type span struct{ oldest, newest uint32 }

var ours = span{MinProtocol, Protocol}

// spanOf is what a message tells of its sender; one that names no oldest
// version speaks only the one.
func spanOf(oldest, newest uint32) span {
	if oldest == 0 || oldest > newest {
		oldest = newest
	}
	return span{oldest, newest}
}

func (s span) has(version uint32) bool { return s.oldest <= version && version <= s.newest }

func (s span) String() string {
	if s.oldest == s.newest {
		return fmt.Sprint(s.newest)
	}
	return fmt.Sprintf("%d to %d", s.oldest, s.newest)
}

// agree is the newest version that both sides speak; ok is false if there is
// none.
func agree(a, b span) (version uint32, ok bool) {
	version = min(a.newest, b.newest)
	return version, a.has(version) && b.has(version)
}

// release is a program's version for a message; it comes from the other side,
// and may be anything.
func release(version string) string {
	if version == "" {
		return "of unknown version"
	}
	return fmt.Sprintf("version %.40q", version)
}
