package scan

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// New takes a file apart into lines. It fails on what can't be a text.
func New(name string, data []byte) (*File, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, errors.New("it is no text: there are zero bytes in it")
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("?"))
	}
	f := &File{Name: name[strings.LastIndexAny(name, `/\`)+1:], Data: data}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\r\n", "\n")
	for i, raw := range strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n") {
		f.Lines = append(f.Lines, Line{No: i + 1, Text: clean(raw), Raw: raw})
	}
	if n := len(f.Lines); n > 0 && f.Lines[n-1].Raw == "" {
		f.Lines = f.Lines[:n-1]
	}
	return f, nil
}

var (
	// quotes are those of a mail, at a line's beginning.
	quotes = regexp.MustCompile(`^\s*(>\s?)+`)
	// escapes steer a terminal; they are also copied as "^[[A".
	escapes = regexp.MustCompile(`(\x1b|\^\[)\[[0-9;?]*[A-Za-z]`)
	// stamps are a log's: a date and time, with or without a host and a program.
	stamps = regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?\]?:?\s+|^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d+ \d\d:\d\d:\d\d \S+ \S+\[\d+\]:\s+`)
	// typed is an arrow that people put behind a figure to point at it.
	typed = regexp.MustCompile(`\s*<-{2,}.*$`)
	// bold is Markdown's, around a whole line or a part of it.
	bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// clean is a line without what pasting adds. Blanks within it stay as they are, and so
// does its indent, which some tables need.
func clean(raw string) string {
	text := html.UnescapeString(raw)
	text = escapes.ReplaceAllString(text, "")
	text = stamps.ReplaceAllString(text, "")
	text = quotes.ReplaceAllString(text, "")
	text = bold.ReplaceAllString(text, "$1")
	text = typed.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\u00a0", " ")
	return strings.TrimRight(text, " \t")
}
