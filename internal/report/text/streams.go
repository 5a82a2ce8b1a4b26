package text

import (
	"fmt"

	"netdelta/internal/compare"
	"netdelta/internal/stages"
	"netdelta/internal/unit"
)

// StreamSection is where a stream's data waits and what limits it: places and limits as
// rows, variants as columns.
func StreamSection(s *stages.Stream) compare.Section {
	x := compare.Section{Name: "streams", Title: "Where data waits: " + s.Title()}
	for i := range s.Variants {
		name := s.Variants[i].Name
		if name == "" {
			name = "mean"
		}
		x.Columns = append(x.Columns, compare.Column{Name: name})
	}
	row := func(label string, cell func(*stages.StreamVariant) string) {
		l := compare.Line{Label: label}
		for i := range s.Variants {
			l.Cells = append(l.Cells, compare.Datum{Text: cell(&s.Variants[i])})
		}
		x.Rows = append(x.Rows, l)
	}
	figure := func(v *float64, format func(float64) string) string {
		if v == nil {
			return "-"
		}
		return format(*v)
	}
	bytes := func(v float64) string { return unit.Format(v, unit.Bytes) }
	for k := range s.Variants[0].Places {
		name := s.Variants[0].Places[k].Name
		row(placeLabel(name), func(v *stages.StreamVariant) string {
			p := &v.Places[k]
			text := figure(p.Bytes, bytes)
			if p.Bytes != nil && p.Most != nil && *p.Most > 0 {
				text += " (max " + bytes(*p.Most) + ")"
			}
			return text
		})
	}
	row("most beyond sending", func(v *stages.StreamVariant) string {
		if v.Largest == "" {
			return "-"
		}
		return placeLabel(v.Largest)
	})
	limits := 0
	for i := range s.Variants {
		limits = max(limits, len(s.Variants[i].Limits))
	}
	for k := range limits {
		row(limitLabel(s, k), func(v *stages.StreamVariant) string {
			if k >= len(v.Limits) {
				return "-"
			}
			return figure(v.Limits[k].Share, func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) })
		})
	}
	row("bytes per packet", func(v *stages.StreamVariant) string {
		return figure(v.BytesPerPacket, func(v float64) string { return fmt.Sprintf("%.0f B", v) })
	})
	row("frames per run", func(v *stages.StreamVariant) string {
		return figure(v.FramesPerRun, func(v float64) string { return fmt.Sprintf("%.1f", v) })
	})
	x.Notes = append(s.Source(), s.Said...)
	if limits > 0 {
		x.Notes = append(x.Notes, "Limits are shares of the time in which the sender had data (TCP_INFO); none: the congestion window, pacing, the sender's or the path's speed.")
	}
	x.Notes = append(x.Notes, "A program that sends all it can keeps the send buffer full. On the way is what was sent and is in no other place: rings, the wire, the receive handler. - is not known.")
	return x
}

func placeLabel(name string) string {
	if name == stages.PlaceWay {
		return "on the way"
	}
	return name
}

// limitLabel is that of the kth limit.
func limitLabel(s *stages.Stream, k int) string {
	for i := range s.Variants {
		if k < len(s.Variants[i].Limits) {
			by := s.Variants[i].Limits[k].By
			if by == stages.LimitWindow {
				by = "rcv window" // a label has little room
			}
			return "limit: " + by
		}
	}
	return ""
}

// mostStreams is how many sentences about streams stand in front of a report; all are
// with their tables.
const mostStreams = 3

// streamLead says what the changes did to streams.
func streamLead(streams []stages.Stream) []string {
	var all []string
	for i := range streams {
		all = append(all, streams[i].Said...)
	}
	return all[:min(mostStreams, len(all))]
}

// streamTexts are the tables as text.
func streamTexts(streams []stages.Stream) [][]string {
	var all [][]string
	for i := range streams {
		s := StreamSection(&streams[i])
		all = append(all, section(&s))
	}
	return all
}

// streamParts are the tables for other forms.
func streamParts(streams []stages.Stream) []Part {
	var parts []Part
	for i := range streams {
		s := StreamSection(&streams[i])
		t, why, said := sectionTable(&s)
		parts = append(parts, Part{Name: PartStreams, Title: s.Title, Table: t.exported(), Notes: append(why, said...)})
	}
	return parts
}

// streamWhere says of a single run where most waits.
func streamWhere(streams []stages.Stream) []Item {
	var all []Item
	for i := range streams {
		for k := range streams[i].Variants {
			all = append(all, hanging(streams[i].Where(&streams[i].Variants[k])))
		}
	}
	return all
}
