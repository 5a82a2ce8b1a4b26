package text

import (
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/summary"
)

// words are a text's, without where its lines end.
func words(s string) string { return strings.Join(strings.Fields(ascii(s)), " ") }

// holds checks that a page says what the parts do, in their order.
func holds(t *testing.T, name, page string, parts []Part) {
	t.Helper()
	rest := words(page)
	for _, p := range parts {
		texts := []string{p.Title}
		for _, i := range p.Items {
			texts = append(texts, i.Text)
		}
		for _, i := range p.Notes {
			texts = append(texts, i.Text)
		}
		for _, text := range texts {
			text = words(text)
			at := strings.Index(rest, text)
			if at < 0 {
				t.Errorf("%s: the page does not have, or not in this place: %q", name, text)
				continue
			}
			if p.Name != PartOnTheWay && p.Name != PartOverTime { // those have a table between
				rest = rest[at:]
			}
		}
	}
}

// Other forms say what the text says, since their parts are the text's.
func TestPartsAreTheText(t *testing.T) {
	reports := map[string]compare.Report{"sizes": sizes(t), "send-path": sendPath(t), "mitigation": sweep(t), "truth": truth(t), "beside": besides(t)}
	for _, name := range []string{"rx-context", "partial", "factorial", "conditions", "runs", "few"} {
		reports[name] = kept(t, name)
	}
	for name, r := range reports {
		parts := Parts(&r)
		if len(parts) < 4 || parts[0].Name != PartAnswer {
			t.Errorf("%s: %d parts, first %q", name, len(parts), parts[0].Name)
		}
		holds(t, name, render(t, r), parts)
		rows := 0
		for _, p := range RowParts(&r) {
			for _, row := range p.Table.Rows {
				if row.Of != nil {
					rows++
				}
				if row.Heading == "" && len(row.Cells) != len(p.Table.Head) {
					t.Errorf("%s: %q has %d cells, want %d", name, row.Cells, len(row.Cells), len(p.Table.Head))
				}
			}
		}
		want := 0
		for i := range r.Comparisons {
			if shown(&r.Comparisons[i]) {
				want++
			}
		}
		for i := range r.Effects {
			if shown(&r.Effects[i]) {
				want++
			}
		}
		for i := range r.Simple {
			if shown(&r.Simple[i]) {
				want++
			}
		}
		if rows != want {
			t.Errorf("%s: %d rows of comparisons, want %d", name, rows, want)
		}
	}
}

func TestRunPartsAreTheText(t *testing.T) {
	for _, name := range []string{"run", "partial", "nothing"} {
		var r summary.Report = keptRun(t, name)
		var b strings.Builder
		if err := RenderRun(&b, &r, true, "go on"); err != nil {
			t.Fatal(err)
		}
		holds(t, name, b.String(), RunParts(&r, true, "go on"))
	}
}
