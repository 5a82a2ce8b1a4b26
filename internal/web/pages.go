package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/report/html"
	"netdelta/internal/result"
	"netdelta/internal/store"
)

// runRow is a run in the list.
type runRow struct {
	result.Run
	Trials    int
	Tests     []string
	Kernel    string
	Baselines []string
}

// rows are the newest runs that a filter chooses, with what is known of each without
// reading a trial.
func (s *site) rows(ctx context.Context, f store.Filter, words string) ([]runRow, error) {
	runs, err := s.Store.Runs(ctx, f)
	if err != nil {
		return nil, err
	}
	marked, err := s.Store.Baselines(ctx)
	if err != nil {
		return nil, err
	}
	var all []runRow
	for _, r := range runs {
		row := runRow{Run: r, Kernel: kernelOf(r)}
		for _, b := range marked {
			if b.ID == r.ID {
				row.Baselines = append(row.Baselines, store.BaselineMark+b.Name)
			}
		}
		groups, err := s.Store.Tally(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			row.Trials += g.Trials
			if name := g.Test.String(); !slices.Contains(row.Tests, name) {
				row.Tests = append(row.Tests, name)
			}
		}
		if row.has(words) {
			all = append(all, row)
		}
	}
	return all, nil
}

// has says that every word is somewhere in what the list shows of the run.
func (r *runRow) has(words string) bool {
	text := strings.ToLower(strings.Join(append(append([]string{r.ID, r.Label, r.Experiment, r.Target, r.Kernel, string(r.State), r.Command}, r.Tests...), r.Baselines...), " "))
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// asked is a number of a query, within limits; most where it has none.
func asked(q url.Values, name string, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return most, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, &pageError{http.StatusBadRequest, fmt.Errorf("%s=%s is no number from 1 to %d", name, text, most)}
	}
	return n, nil
}

func (s *site) runs(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := asked(q, "limit", mostRuns)
	if err != nil {
		return err
	}
	rows, err := s.rows(r.Context(), store.Filter{Label: q.Get("label"), Limit: limit}, q.Get("q"))
	if err != nil {
		return err
	}
	return s.show(w, "runs", listPage{Title: "Runs", Query: q, Rows: rows, Write: s.Write, Version: s.Version, Full: len(rows) == limit})
}

func (s *site) run(w http.ResponseWriter, r *http.Request) error {
	k, err := s.one(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := s.Document(k)
	if err != nil {
		return err
	}
	name := cmp.Or(k.Run.Label, k.Run.ID)
	links := []html.Link{{Text: "Runs", URL: "/"}}
	for _, f := range files {
		links = append(links, html.Link{Text: f.name, URL: "/run/" + k.Run.ID + "/" + f.path(k.Run.ID)})
	}
	return s.report(w, d, "Run "+name, links)
}

// one is the newest of the runs that a text means.
func (s *site) one(ctx context.Context, ref string) (compare.Kept, error) {
	run, err := store.Latest(ctx, s.Store, ref)
	if err != nil {
		return compare.Kept{}, err
	}
	return s.withTrials(ctx, run)
}

func (s *site) compare(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	old, new := q.Get("old"), q.Get("new")
	if old == "" || new == "" {
		return &pageError{http.StatusBadRequest, errors.New("a comparison takes two: choose one run as old and another as new")}
	}
	var sides [2][]compare.Kept
	for i, ref := range []string{old, new} {
		var err error
		if sides[i], err = s.kept(r.Context(), ref); err != nil {
			return err
		}
	}
	d, err := s.Compare(sides[0], sides[1])
	if err != nil {
		return &pageError{http.StatusBadRequest, err}
	}
	return s.report(w, d, fmt.Sprintf("%s against %s", new, old), []html.Link{{Text: "Runs", URL: "/"},
		{Text: "the other way round", URL: "/compare?" + url.Values{"old": {new}, "new": {old}}.Encode()}})
}

// failed shows an error as a page with its status.
func (s *site) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there any more
	}
	_ = s.showAs(w, statusOf(err), "failed", listPage{Title: http.StatusText(statusOf(err)), Error: err.Error(), Version: s.Version})
}
