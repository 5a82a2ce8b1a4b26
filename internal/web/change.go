package web

import (
	"errors"
	"net/http"
	"net/url"

	"netdelta/internal/result"
	"netdelta/internal/store"
)

// maxForm is the largest form that is read, in bytes.
const maxForm = 16 << 10

// change makes a handler of a change. It takes nothing that a page of another site has
// sent, and goes back to the list.
func (s *site) change(f func(*http.Request) error) http.HandlerFunc {
	return s.page(func(w http.ResponseWriter, r *http.Request) error {
		if !sameOrigin(r) {
			return &pageError{http.StatusForbidden, errors.New("the form was not one of this site's")}
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return &pageError{http.StatusBadRequest, err}
		}
		if err := f(r); err != nil {
			return err
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	})
}

// sameOrigin says that a form came from a page of this site: browsers name the page's
// origin with every POST (Fetch standard).
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Header.Get("Sec-Fetch-Site") != ""
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

func (s *site) relabel(r *http.Request) error {
	label := r.PostForm.Get("label")
	if err := result.CheckLabel(label); err != nil {
		return &pageError{http.StatusBadRequest, err}
	}
	return s.Store.Relabel(r.Context(), r.PathValue("id"), label)
}

func (s *site) baseline(r *http.Request) error {
	name := r.PostForm.Get("name")
	if err := store.CheckBaseline(name); err != nil {
		return &pageError{http.StatusBadRequest, err}
	}
	return s.Store.SetBaseline(r.Context(), name, r.PathValue("id"))
}
