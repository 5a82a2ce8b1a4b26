package counters

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// file is a source that is one file of the kernel's, read whole each time and
// parsed afterwards. The buffer of a sample is its own.
type file struct {
	name  string
	f     *os.File
	size  int           // of the last reading, which the next will hardly exceed
	took  time.Duration // the last reading
	parse func(text []byte, s *sample) error
}

// openFile opens a file below the options' root and reads it once, so that one
// that can't be read or has nothing that parse knows is missing from the start.
func openFile(o *Options, name string, parse func([]byte, *sample) error) (source, error) {
	f, err := os.Open(filepath.Join(o.root, name))
	if err != nil {
		return nil, reason(fmt.Errorf("open /%s: %w", name, errors.Unwrap(err)))
	}
	s := &file{name: name, f: f, size: 4 << 10, parse: parse}
	x, err := s.take()
	if err == nil {
		err = x.parsed()
	}
	if err == nil && len(x.counts)+len(x.levels) == 0 {
		err = fmt.Errorf("/%s has nothing that is known", name)
	}
	if err != nil {
		f.Close()
		return nil, reason(err)
	}
	return s, nil
}

// take reads the file.
func (s *file) take() (*sample, error) {
	text, err := s.read()
	if err != nil {
		return nil, err
	}
	return &sample{parse: func(x *sample) error {
		if err := s.parse(text, x); err != nil {
			return fmt.Errorf("read /%s: %w", s.name, err)
		}
		return nil
	}}, nil
}

// cost is what the last reading took.
func (s *file) cost() time.Duration { return s.took }

func (s *file) read() ([]byte, error) {
	begin := now()
	defer func() { s.took = time.Duration(now() - begin) }()
	text := make([]byte, 0, s.size+s.size/4)
	for {
		if len(text) == cap(text) {
			text = append(text, make([]byte, cap(text))...)[:len(text)]
		}
		n, err := s.f.ReadAt(text[len(text):cap(text)], int64(len(text)))
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF) || err == nil && n == 0:
			s.size = max(s.size, len(text))
			return text, nil
		case err != nil:
			return nil, fmt.Errorf("read /%s: %w", s.name, err)
		}
	}
}

func (s *file) close() error { return s.f.Close() }
