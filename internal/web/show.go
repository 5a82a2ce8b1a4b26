package web

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"

	"netdelta/internal/compare"
	"netdelta/internal/report/html"
)

//go:embed page/pages.tmpl
var pages string

// listPage is what the list of runs, and a page that says what went wrong, show.
type listPage struct {
	Title, Version string
	Query          url.Values
	Rows           []runRow
	Write          bool
	// Full says that there may be more runs than are shown.
	Full  bool
	Error string
}

// shell is what every page of the site's own has.
type shell struct {
	Style  template.CSS
	Script template.JS
	Page   any
}

// show writes one of the site's own pages, whole or not at all.
func (s *site) show(w http.ResponseWriter, name string, page any) error {
	return s.showAs(w, http.StatusOK, name, page)
}

// showAs does so with a status. The headers stand before that: later ones are not sent.
func (s *site) showAs(w http.ResponseWriter, status int, name string, page any) error {
	t, err := template.New("pages").Funcs(template.FuncMap{"when": when}).Parse(pages)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, shell{template.CSS(html.Style()), template.JS(html.Script()), page}); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src "+html.Hash(html.Script()))
	w.WriteHeader(status)
	_, err = w.Write(b.Bytes())
	return err
}

// report writes a report's page with the site's bar above it. Its policy stands in it.
func (s *site) report(w http.ResponseWriter, d *compare.Document, title string, links []html.Link) error {
	var b bytes.Buffer
	if err := html.Page(&b, d, html.Nav{Title: title, Links: links}); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(b.Bytes())
	return err
}
