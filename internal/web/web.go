// Package web shows what a store keeps in a browser: its runs, comparisons of them,
// and how a figure went from run to run. The pages of runs and comparisons are the
// HTML form of their reports.
package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"netdelta/internal/compare"
	"netdelta/internal/result"
	"netdelta/internal/store"
)

// Options are what a site is made of.
type Options struct {
	Store store.Store
	// Document makes the report of one run from its trials, and Compare that of two
	// sides.
	Document func(compare.Kept) (*compare.Document, error)
	Compare  func(old, new []compare.Kept) (*compare.Document, error)
	// Version is the program's, for the foot of pages.
	Version string
	// AnyHost lets requests in that call the site by whatever name. Otherwise it has to
	// be a loopback name or address, so that no foreign page can reach the site by a
	// name of its own that points here (DNS rebinding).
	AnyHost bool
	// Write lets the pages change labels and baselines.
	Write bool
}

// site is the handler's state.
type site struct {
	Options
	figures *figureCache
}

// New makes the site.
func New(o Options) http.Handler {
	s := &site{Options: o, figures: newFigureCache()}
	mux := http.NewServeMux()
	get := func(path string, page func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc("GET "+path, s.page(page))
	}
	get("/{$}", s.runs)
	get("/run/{id}", s.run)
	get("/run/{id}/{file}", s.file)
	get("/compare", s.compare)
	get("/trend", s.trend)
	if o.Write {
		mux.HandleFunc("POST /run/{id}/label", s.change(s.relabel))
		mux.HandleFunc("POST /run/{id}/baseline", s.change(s.baseline))
	}
	mux.HandleFunc("/", s.page(func(http.ResponseWriter, *http.Request) error {
		return &pageError{http.StatusNotFound, errors.New("there is no such page")}
	}))
	return s.guard(mux)
}

// pageError is an error with the HTTP status that it stands for.
type pageError struct {
	status int
	err    error
}

func (e *pageError) Error() string { return e.err.Error() }
func (e *pageError) Unwrap() error { return e.err }

// guard refuses requests by a foreign name, and sets what every answer has.
func (s *site) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		if !s.AnyHost && !ownName(r.Host) {
			http.Error(w, fmt.Sprintf("this site is not called %q: ask for it as localhost, or start it with --any-host", r.Host), http.StatusMisdirectedRequest)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !s.Write {
			http.Error(w, "the site is read only: start it with --write to change labels and baselines", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownName says that a Host header names this machine's loopback.
func ownName(host string) bool {
	if a, err := netip.ParseAddrPort(host); err == nil {
		return a.Addr().IsLoopback()
	}
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
	}
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return a.IsLoopback()
	}
	return strings.EqualFold(name, "localhost")
}

// page makes a handler of a page. An error becomes a page of its own.
func (s *site) page(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.failed(w, r, err)
		}
	}
}

// statusOf is the HTTP status that an error stands for.
func statusOf(err error) int {
	var known *pageError
	switch {
	case errors.As(err, &known):
		return known.status
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, store.ErrAmbiguous), errors.Is(err, compare.ErrNothingInCommon):
		return http.StatusBadRequest
	case errors.Is(err, store.ErrRunning), errors.Is(err, store.ErrBaseline), errors.Is(err, store.ErrReadOnly):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// kept reads the runs that a text means, with their trials. Records that can't be read
// become warnings.
func (s *site) kept(ctx context.Context, ref string) ([]compare.Kept, error) {
	runs, err := s.Store.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	var all []compare.Kept
	for _, r := range runs {
		k, err := s.withTrials(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func (s *site) withTrials(ctx context.Context, r result.Run) (compare.Kept, error) {
	k := compare.Kept{Run: r}
	for t, err := range s.Store.Trials(ctx, r.ID) {
		if ctx.Err() != nil {
			return k, ctx.Err()
		}
		if err != nil {
			k.Run.Warnings = append(k.Run.Warnings, result.Warning{Code: "unreadable", Text: "a trial is left out: " + err.Error()})
			continue
		}
		k.Trials = append(k.Trials, t)
	}
	return k, nil
}
