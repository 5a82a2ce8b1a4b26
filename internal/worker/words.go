package worker

import (
	"strings"
	"sync"
)

// maxWords is how much of a worker's standard error is kept, in bytes, and how
// many lines of it are shown.
const (
	maxWords  = 8 << 10
	lastLines = 6
)

// words keeps the end of what is written to it.
type words struct {
	mu   sync.Mutex
	text []byte
}

// Write never fails.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if over := len(w.text) - maxWords; over > 0 {
		w.text = append(w.text[:0], w.text[over:]...)
	}
	return len(p), nil
}

// last returns the last lines that are not empty, in one.
func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(w.text)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-lastLines):], " | ")
}
