package text

import (
	"fmt"
	"io"
	"strings"
	"time"

	"netdelta/internal/doctor"
	"netdelta/internal/result"
	"netdelta/internal/unit"
)

// RenderDoctor writes what was found at each end, what weighs most first, and
// what was looked at and found fine.
func RenderDoctor(w io.Writer, r *doctor.Report) error {
	var parts []string
	for _, end := range append([]doctor.End{{End: doctor.Path}}, r.Ends...) {
		if lines := endLines(r, &end); len(lines) > 0 {
			parts = append(parts, strings.Join(lines, "\n")+"\n")
		}
	}
	parts = append(parts, strings.Join(wrap(conclusion(r), "", ""), "\n")+"\n")
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

// endLines is one end's part; nothing for a path at which nothing was found.
func endLines(r *doctor.Report, e *doctor.End) []string {
	found := r.At(e.End)
	if e.End == doctor.Path && len(found) == 0 {
		return nil
	}
	lines := wrap(endTitle(e), "", "  ")
	for i := range found {
		lines = append(lines, findingLines(&found[i])...)
	}
	if e.End == doctor.Path {
		return lines
	}
	if len(found) == 0 {
		lines = append(lines, "  Nothing was found that would spoil a measurement.")
	}
	if len(e.Fine) > 0 {
		lines = append(lines, wrap("Fine: "+strings.Join(e.Fine, ", ")+".", "  ", "    ")...)
	}
	if len(e.Unknown) > 0 {
		lines = append(lines, wrap("Could not be told: "+strings.Join(e.Unknown, ", ")+".", "  ", "    ")...)
	}
	return lines
}

func endTitle(e *doctor.End) string {
	title := map[string]string{result.Local: "Local end", result.Remote: "Remote end", doctor.Path: "Path"}[e.End]
	if title == "" {
		title = e.End
	}
	if e.Host != "" {
		title += ", " + e.Host
	}
	if e.Device != "" {
		title += ", interface " + e.Device
	}
	if e.LookedNS > 0 {
		title += ", looked at for " + time.Duration(e.LookedNS).Round(100*time.Millisecond).String()
	}
	return title
}

// findingLines are what is wrong, what that does, and what mends it.
func findingLines(f *doctor.Finding) []string {
	lines := wrap(f.What+".", "  "+f.Level()+": ", "    ")
	why := capital(f.Why)
	if f.HowMuch != "" {
		why += ": " + f.HowMuch
	}
	lines = append(lines, wrap(why+".", "    ", "    ")...)
	if f.Command != "" {
		lines = append(lines, shellLines(f.Command, "    #", "     ")...)
	}
	if f.Advice != "" {
		lines = append(lines, wrap(capital(f.Advice)+".", "    ", "    ")...)
	}
	return lines
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// conclusion is the last line.
func conclusion(r *doctor.Report) string {
	counts := map[string]int{}
	for i := range r.Findings {
		counts[r.Findings[i].Level()]++
	}
	var parts []string
	for _, level := range []string{"severe", "serious", "minor", "note"} {
		switch n := counts[level]; {
		case n == 0:
		case level == "note":
			parts = append(parts, unit.Count(n, level))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, level))
		}
	}
	if len(parts) == 0 {
		return "Nothing was found. Nothing was changed."
	}
	return "Found: " + strings.Join(parts, ", ") + ". Nothing was changed; the commands are for root at the end that they stand under."
}
