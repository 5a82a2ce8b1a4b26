package html

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/labtest/browser"
	"netdelta/internal/report/text"
	"netdelta/internal/result"
)

// onDisk writes a document's page, and returns its address.
func onDisk(t *testing.T, d *compare.Document) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, []byte(rendered(t, d)), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + name
}

// leading is the number that a cell begins with.
func leading(t *testing.T, text string) float64 {
	t.Helper()
	end := 1
	for end < len(text) && strings.ContainsRune("0123456789.", rune(text[end])) {
		end++
	}
	v, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestInABrowser(t *testing.T) {
	url := onDisk(t, planned(t))
	p := browser.New(t)
	p.Open(url, 1280)

	// Every curve is drawn: its canvas has several colours.
	drawn := browser.Eval[int](p, `[...document.querySelectorAll(".plot canvas")].filter((c) => {
		const d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
		return new Set(d).size > 10;
	}).length`)
	if want := browser.Eval[int](p, `document.querySelectorAll(".plot").length`); drawn != want || want < 4 {
		t.Errorf("%d curves of %d are drawn", drawn, want)
	}
	if n := browser.Eval[int](p, `document.querySelectorAll("svg.forest .row").length`); n < 8 {
		t.Errorf("the forest has %d rows", n)
	}

	// A table is sorted by a click, and by the keyboard; a third time it is as it was.
	cells := func() []string {
		return browser.Eval[[]string](p, `[...document.querySelector(".rows table").tBodies[0].rows].slice(1).map((r) => r.cells[4].textContent.trim())`)
	}
	first := cells()
	change := `.rows table thead th:nth-child(5) button`
	p.Click(change)
	up := cells()
	if !slices.IsSortedFunc(up, func(a, b string) int { return int(1000 * (leading(t, a) - leading(t, b))) }) || slices.Equal(up, first) {
		t.Errorf("from %q to %q by a click", first, up)
	}
	p.Press(change, "\r")
	down := cells()
	slices.Reverse(down)
	if !slices.Equal(up, down) || browser.Eval[string](p, `document.querySelector(".rows table thead th:nth-child(5)").getAttribute("aria-sort")`) != "descending" {
		t.Errorf("from %q to %q by the keyboard", up, down)
	}
	p.Click(change)
	if again := cells(); !slices.Equal(again, first) {
		t.Errorf("a third time it is %q, and was %q", again, first)
	}

	// Light and dark: as the system has it, and by the button.
	page := `getComputedStyle(document.body).backgroundColor`
	p.Dark(false)
	light := browser.Eval[string](p, page)
	p.Dark(true)
	dark := browser.Eval[string](p, page)
	p.Click("#theme")
	if marks := browser.Eval[string](p, `[...document.querySelectorAll(".plot:first-of-type .u-series:not(:first-child) .u-marker")].map((m) => getComputedStyle(m).borderTopColor).slice(0, 2).join(" ")`); marks != "rgb(0, 114, 178) rgb(213, 94, 0)" {
		t.Errorf("in the light the marks of the curves are %s", marks)
	}
	if back := browser.Eval[string](p, page); light == dark || back != light {
		t.Errorf("light is %s, dark %s, and the button makes %s", light, dark, back)
	}
	p.Quiet("file://")
}

// On a phone the page is no wider than the window: what is wide scrolls in its box. And
// no name that a user gave is run.
func TestOnAPhone(t *testing.T) {
	p := browser.New(t)
	for name, d := range map[string]*compare.Document{"planned": planned(t), "single": single(t), "runs": kept(t, "runs"), "hostile": hostile(t)} {
		p.Open(onDisk(t, d), 360)
		if wide := browser.Eval[int](p, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s: the page is %d wide", name, wide)
		}
		if browser.Eval[bool](p, `!!globalThis.hurt`) {
			t.Errorf("%s: a name was run as a script", name)
		}
		// Each figure's own drawing for a phone is there, whole, in place of the wide one.
		if cut := browser.Eval[int](p, `[...document.querySelectorAll("svg")].filter((s) => s.classList.contains("narrow") ? !s.checkVisibility() || s.getBoundingClientRect().right > 360 : s.checkVisibility()).length`); cut > 0 {
			t.Errorf("%s: %d drawings are cut", name, cut)
		}
	}
	p.Quiet("file://")
}

// What is saved is what was measured.
func TestSavedData(t *testing.T) {
	d := planned(t)
	p := browser.New(t)
	p.Open(onDisk(t, d), 1000)
	saved := func(name string) []byte { return p.Save(`button[data-name="`+name+`"]`, name) }
	want, err := json.MarshalIndent(d.Report, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if got := saved("report.json"); string(got) != string(want)+"\n" {
		t.Errorf("the report has %d bytes, and %d when it is saved", len(want), len(got))
	}
	if rows, err := csv.NewReader(bytes.NewReader(saved("trials.csv"))).ReadAll(); err != nil || len(rows) < 48 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	all, err := result.DecodeBundle(saved("runs.netdelta"))
	if err != nil || len(all) != 1 || len(all[0].Trials) != len(d.Kept[0].Trials) {
		t.Errorf("%d runs, %v", len(all), err)
	}
	p.Quiet("file://")
}

// Without scripts the page can be printed; on paper it is light, and nothing is cut.
func TestOnPaper(t *testing.T) {
	url := onDisk(t, planned(t))
	p := browser.New(t)
	p.Scripts(false)
	p.Open(url, 1000)
	pdf := p.PDF()
	if pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); !bytes.HasPrefix(pdf, []byte("%PDF")) || pages < 3 {
		t.Errorf("on paper it is %d bytes, %d pages", len(pdf), pages)
	}
	p.Scripts(true)
	p.Open(url, 1000)
	p.Dark(true)
	p.Print()
	for what, wrong := range map[string]string{
		"the bar is printed":          `getComputedStyle(document.querySelector(".bar")).display !== "none"`,
		"a column has no title":       `[...document.querySelectorAll(".rows thead button")].length === 0 || ![...document.querySelectorAll(".rows thead button")].every((b) => b.checkVisibility())`,
		"a table is cut":              `getComputedStyle(document.querySelector(".scroll")).overflowX !== "visible"`,
		"what is folded is not seen":  `[...document.querySelectorAll("details:not(.why):not([open])")].length === 0 || ![...document.querySelectorAll("details:not(.why):not([open]) > :not(summary)")].every((e) => e.checkVisibility({ contentVisibilityAuto: true }) && e.getBoundingClientRect().height > 0)`,
		"a phone's figure is printed": `[...document.querySelectorAll("svg.narrow")].some((e) => e.checkVisibility())`,
		"the background is not white": `getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)"`,
	} {
		if browser.Eval[bool](p, wrong) {
			t.Error(what)
		}
	}
}

// Numbers are sorted by what they are worth: with the unit that the row names, or that
// stands behind them.
func TestSortsByWorth(t *testing.T) {
	rows := text.Table{Head: []string{"", "unit", "median", "wait", "n"}, Right: []bool{false, false, true, true, true}}
	for _, c := range [][]string{{"a", "us", "7.00", "2.0 ms", "3"}, {"b", "ns", "900", "900 ns", "20"}, {"c", "ms", "1.20", "15 us", "4"}, {"d", "us", "n/a", "n/a", "5"}} {
		rows.Rows = append(rows.Rows, text.TableRow{Cells: c})
	}
	var b bytes.Buffer
	p := &page{Policy: "default-src 'none'; style-src 'unsafe-inline'; script-src " + Hash(base), Style: template.CSS(style), Scripts: []template.JS{template.JS(base)}, Parts: []part{partOf(text.Part{Title: "Times", Table: &rows})}}
	if err := template.Must(template.New("report").Parse(report)).Execute(&b, p); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "table.html")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	w := browser.New(t)
	w.Open("file://"+name, 1000)
	for column, want := range map[int]string{3: "bacd", 4: "bcad", 5: "acdb"} {
		w.Click(fmt.Sprintf("thead th:nth-child(%d) button", column))
		if got := browser.Eval[string](w, `[...document.querySelectorAll("tbody tr")].map((r) => r.cells[0].textContent).join("")`); got != want {
			t.Errorf("by column %d the rows are %s, want %s", column, got, want)
		}
	}
	w.Quiet("file://")
}

// What a curve says where the pointer is, is the percentile and not the place on its
// axis; blocks are counted in whole numbers.
func TestUnderThePointer(t *testing.T) {
	p := browser.New(t)
	p.Open(onDisk(t, planned(t)), 1280)
	at := browser.Eval[string](p, `(() => {
		const plot = document.querySelector("[id^='f-percentiles.'] .u-over"), box = plot.getBoundingClientRect();
		plot.dispatchEvent(new MouseEvent("mousemove", { clientX: box.right - 1, clientY: box.top + 9, bubbles: true }));
		return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
			done(plot.closest(".uplot").querySelector(".u-legend .u-value").textContent))));
	})()`)
	if v, err := strconv.ParseFloat(at, 64); err != nil || v < 90 || v >= 100 {
		t.Errorf("at the end of the curve of percentiles it says %q", at)
	}
	p.Quiet("file://")
}

// A page's policy holds, and what breaks it is heard by these tests.
func TestPolicyIsHeard(t *testing.T) {
	broken := strings.Replace(rendered(t, single(t)), "</main>", `<img src="https://example.invalid/x.png"></main>`, 1)
	name := filepath.Join(t.TempDir(), "broken.html")
	if err := os.WriteFile(name, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	p := browser.New(t)
	p.Open("file://"+name, 1000)
	if all := p.Complaints(); len(all) != 1 || !strings.Contains(all[0], "Content Security Policy") {
		t.Errorf("of a picture from elsewhere it says %q", all)
	}
}
