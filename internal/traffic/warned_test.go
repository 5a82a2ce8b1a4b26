package traffic

import "netdelta/internal/result"

// warned says whether an end gave a warning.
func warned(e result.End, code string) bool {
	for _, w := range e.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
