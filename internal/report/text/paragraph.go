package text

import (
	"io"
	"strings"
)

// Paragraph writes a text behind a report, as wide as that, after an empty line.
func Paragraph(w io.Writer, text string) error {
	_, err := io.WriteString(w, "\n"+strings.Join(wrap(text, "", "  "), "\n")+"\n")
	return err
}
