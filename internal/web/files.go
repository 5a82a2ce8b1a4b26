package web

import (
	"fmt"
	"mime"
	"net/http"

	"netdelta/internal/report"
	"netdelta/internal/result"
)

// file is a form in which a run can be had.
type file struct {
	name, ending, kind string
	write              func(*site, http.ResponseWriter, *http.Request) error
}

func (f file) path(id string) string { return id + f.ending }

// files is the table of them.
var files = []file{
	{"bundle", ".netdelta", "application/gzip", (*site).bundle},
	{"JSON", ".json", "application/json", formOf("json")},
	{"CSV", ".csv", "text/csv; charset=utf-8", formOf("csv")},
	{"Markdown", ".md", "text/markdown; charset=utf-8", formOf("markdown")},
	{"text", ".txt", "text/plain; charset=utf-8", formOf("text")},
	{"bench", ".bench", "text/plain; charset=utf-8", formOf("bench")},
}

// file sends a run in one of the forms.
func (s *site) file(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	for _, f := range files {
		if r.PathValue("file") == f.path(id) {
			w.Header().Set("Content-Type", f.kind)
			w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.path(id)}))
			if err := f.write(s, w, r); err != nil {
				w.Header().Del("Content-Disposition")
				return err
			}
			return nil
		}
	}
	return &pageError{http.StatusNotFound, fmt.Errorf("run %s can't be had as %s", id, r.PathValue("file"))}
}

func (s *site) bundle(w http.ResponseWriter, r *http.Request) error {
	k, err := s.one(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	data, err := result.EncodeBundle([]result.Bundled{result.Bundled(k)})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func formOf(name string) func(*site, http.ResponseWriter, *http.Request) error {
	return func(s *site, w http.ResponseWriter, r *http.Request) error {
		k, err := s.one(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		d, err := s.Document(k)
		if err != nil {
			return err
		}
		form, err := report.FormatOf(name)
		if err != nil {
			return err
		}
		return form.Render(w, d, report.Options{Machines: true})
	}
}
