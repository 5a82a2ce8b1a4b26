package html

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/summary"
)

func labRun(t testing.TB) compare.Kept {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "picture", "testdata", "lab.netdelta"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := result.DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	return compare.Kept(all[0])
}

// planned is a real run of a lab, two variants and two tests.
func planned(t testing.TB) *compare.Document {
	t.Helper()
	k := labRun(t)
	r, err := compare.Build(*k.Run.Plan, k.Trials, compare.Options{Environment: compare.FactsOf(k.Run.Environments), Command: k.Run.Command, Version: k.Run.Version})
	if err != nil {
		t.Fatal(err)
	}
	return &compare.Document{Report: &r, Kept: []compare.Kept{k}}
}

// single is one variant of it, as a run in which nothing varies.
func single(t testing.TB) *compare.Document {
	t.Helper()
	k := labRun(t)
	k.Trials = slices.DeleteFunc(k.Trials, func(x result.Trial) bool { return x.Variant["gro"] != "on" })
	for i := range k.Trials {
		k.Trials[i].Variant = nil
	}
	s := summary.Build(k.Run, k.Trials)
	return &compare.Document{Summary: &s, Kept: []compare.Kept{k}}
}

// kept is one of the made-up reports, without trials.
func kept(t testing.TB, name string) *compare.Document {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "compare", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &compare.Document{Report: &r}
}

// hurt is a name that would be a script, if it were let.
const hurt = `</script><script>globalThis.hurt=1</script><img src=x onerror="globalThis.hurt=1">' " & veryveryverylongnamethathasnoplacetobreakatallandgoesonandonandonandon`

// hostile has that name wherever a user gives one.
func hostile(t testing.TB) *compare.Document {
	t.Helper()
	d := planned(t)
	r := d.Report
	r.Experiment, r.Question, r.Command, r.Version = hurt, hurt, hurt, hurt
	r.Warnings = append(r.Warnings, result.Warning{Code: "x", Text: hurt, Advice: hurt})
	r.Environment = append(r.Environment, result.Fact{Name: hurt, Value: hurt})
	for i := range r.Comparisons {
		r.Comparisons[i].Under = hurt
		r.Comparisons[i].Warnings = append(r.Comparisons[i].Warnings, result.Warning{Code: "x", Text: hurt})
	}
	r.Findings = append(r.Findings, hurt)
	return d
}

func rendered(t testing.TB, d *compare.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every page is a whole document that asks for nothing from elsewhere.
func TestStandsAlone(t *testing.T) {
	docs := map[string]*compare.Document{"planned": planned(t), "single": single(t), "hostile": hostile(t)}
	for _, name := range []string{"rx-context", "factorial", "conditions", "runs", "few", "partial"} {
		docs[name] = kept(t, name)
	}
	for name, d := range docs {
		page := rendered(t, d)
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var opened []string
		ids := map[string]bool{}
		var walk func(n *html.Node)
		walk = func(n *html.Node) {
			for _, a := range n.Attr {
				if (a.Key == "src" || a.Key == "href" || a.Key == "action") && a.Val != "" {
					opened = append(opened, a.Val)
				}
				if strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: an element has %s", name, a.Key)
				}
				if a.Key == "id" {
					if ids[a.Val] {
						t.Errorf("%s: the id %s is there twice", name, a.Val)
					}
					ids[a.Val] = true
				}
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				walk(c)
			}
		}
		walk(root)
		if len(opened) > 0 {
			t.Errorf("%s: it asks for %q", name, opened)
		}
		if n := strings.Count(page, "<h1>"); n != 1 {
			t.Errorf("%s: %d first headings", name, n)
		}
		if !regexp.MustCompile(`Content-Security-Policy" content="default-src &#39;none&#39;`).MatchString(page) {
			t.Errorf("%s: it has no policy", name)
		}
		if strings.Contains(page, "<script>globalThis") || strings.Contains(page, "<img") {
			t.Errorf("%s: a name is markup", name)
		}
		if again := rendered(t, d); again != page {
			t.Errorf("%s: another time it is another page", name)
		}
	}
}

// The page says what the text says: the answer, and every row.
func TestSaysWhatTheTextSays(t *testing.T) {
	d := planned(t)
	page := rendered(t, d)
	plain := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))
	for _, s := range append(d.Report.Answer(), "tcp_stream size=128KiB", "seed 3333939887") {
		if !strings.Contains(plain, s) {
			t.Errorf("it does not say %q", s)
		}
	}
	for _, c := range d.Report.Comparisons {
		if c.Metric == result.RTTP50 || c.Metric == result.Goodput {
			if !strings.Contains(plain, c.Change(1)) {
				t.Errorf("%s %s has no change of %s", c.Test, c.Metric, c.Change(1))
			}
		}
	}
	for _, verdict := range []string{"worse", "unsure", "same"} {
		if !strings.Contains(page, `class="chip `+verdict+`"`) {
			t.Errorf("no row is %s", verdict)
		}
	}
}

func TestNavigation(t *testing.T) {
	var b bytes.Buffer
	if err := Page(&b, single(t), Nav{Title: "Run <x>", Links: []Link{{"Runs", "/"}, {"bad", "javascript:alert(1)"}}}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !strings.Contains(page, `<a href="/">Runs</a>`) || !strings.Contains(page, "Run &lt;x&gt;") || strings.Contains(page, `href="javascript:`) {
		t.Error("the bar has not what it should, or what it should not")
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	if err := Render(full{}, planned(t)); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

// A figure that has nothing finite in it is drawn as nothing, without a panic.
func TestNothingToDraw(t *testing.T) {
	if got := rendered(t, &compare.Document{Summary: &summary.Report{}}); !strings.Contains(got, "<main>") {
		t.Error("no page")
	}
}
