package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"netdelta/internal/compare"
	"netdelta/internal/report"
	"netdelta/internal/result"
	"netdelta/internal/store"
	"netdelta/internal/store/memory"
	"netdelta/internal/summary"
)

const evil = `<script>globalThis.hurt=1</script>`

// runOf is a kept run of that label, from one of a real lab's variants.
func runOf(t testing.TB, id, label, kernel, variant string, minutes int) compare.Kept {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "picture", "testdata", "lab.netdelta"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := result.DecodeBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	k := compare.Kept(all[0])
	if variant != "" {
		var of []result.Trial
		for _, x := range k.Trials {
			if x.Variant["gro"] == variant {
				x.Variant = nil
				of = append(of, x)
			}
		}
		k.Trials, k.Run.Plan = of, nil
	}
	k.Run.ID, k.Run.Label, k.Run.Start, k.Run.End = id, label, k.Run.Start.Add(time.Duration(minutes)*time.Minute), k.Run.End.Add(time.Duration(minutes)*time.Minute)
	k.Run.Environments = []result.Environment{{End: result.Local, Facts: []result.Fact{{Name: "kernel", Value: kernel}}}}
	return k
}

func filled(t testing.TB) store.Store {
	t.Helper()
	s := memory.New()
	for _, k := range []compare.Kept{
		runOf(t, "a234567890", "old", "6.1", "on", 0), runOf(t, "b234567890", "new", "6.18", "off", 10),
		runOf(t, "c234567890", evil, "6.18", "on", 20), runOf(t, "d234567890", "lab", "6.18", "", 30),
	} {
		state, end := k.Run.State, k.Run.End
		if err := s.Begin(t.Context(), k.Run); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), k.Run.ID, k.Trials...); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), k.Run.ID, state, end, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetBaseline(t.Context(), "good", "a234567890"); err != nil {
		t.Fatal(err)
	}
	return s
}

func document(k compare.Kept) (*compare.Document, error) {
	d := compare.Document{Kept: []compare.Kept{k}}
	if k.Run.Plan != nil && !k.Run.Plan.Single() {
		r, err := compare.Build(*k.Run.Plan, k.Trials, compare.Options{})
		d.Report = &r
		return &d, err
	}
	s := summary.Build(k.Run, k.Trials)
	d.Summary = &s
	return &d, nil
}

func siteOf(s store.Store, write bool) http.Handler {
	return New(Options{Store: s, Version: "1.2.3", Document: document, Write: write,
		Compare: func(old, new []compare.Kept) (*compare.Document, error) {
			r, err := compare.Runs(old, new, compare.RunsOptions{})
			return &compare.Document{Report: &r, Kept: append(old, new...)}, err
		}})
}

// get asks the site for a page.
func get(t testing.TB, h http.Handler, path string) (int, string, http.Header) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header()
}

func TestPages(t *testing.T) {
	h := siteOf(filled(t), false)
	for path, want := range map[string]struct {
		status int
		has    []string
		hasNot []string
	}{
		"/":                                  {200, []string{"a234567890", "@good", "6.18", "Compare old with new", "tcp_stream", "&lt;script&gt;"}, []string{evil, "Set label"}},
		"/?q=6.1+old":                        {200, []string{"a234567890"}, []string{"b234567890", "d234567890"}},
		"/?label=new":                        {200, []string{"b234567890"}, []string{"a234567890"}},
		"/?q=nothing":                        {200, []string{"No run that is kept fits"}, nil},
		"/?q=%22%3E" + url.QueryEscape(evil): {200, []string{"No run"}, []string{evil}},
		"/?limit=2":                          {200, []string{"d234567890", "there may be more"}, []string{"a234567890"}},
		"/?limit=x":                          {400, []string{"limit=x is no number"}, nil},
		"/run/a234567890":                    {200, []string{"Run old", "udp_rr", "rtt_p50", ".netdelta"}, nil},
		"/run/old":                           {200, []string{"Run old"}, nil},
		"/run/@good":                         {200, []string{"Run old"}, nil},
		"/run/d23":                           {200, []string{"off against on", "class=\"forest\""}, nil},
		"/run/nope":                          {404, []string{"no such run"}, nil},
		"/run/" + url.PathEscape(evil):       {200, []string{"&lt;script&gt;"}, []string{evil}},
		"/compare?old=old&new=new":           {200, []string{"new against old", "the other way round"}, nil},
		"/compare?old=old&new=old":           {400, []string{"given twice"}, nil},
		"/compare?old=old":                   {400, []string{"takes two"}, nil},
		"/compare?old=old&new=nope":          {404, []string{"no such run"}, nil},
		"/trend":                             {200, []string{"goodput of tcp_stream", "<svg", "6.1", "a234567890", "Other figures"}, nil},
		"/trend?test=udp_rr+size%3D1&metric=rtt_p50&end=local": {200, []string{"rtt_p50 of udp_rr size=1", "b234567890"}, nil},
		"/trend?test=x&metric=y":                               {404, []string{"no run has y of x"}, nil},
		"/trend?label=nope":                                    {200, []string{"No run has figures"}, nil},
		"/nowhere":                                             {404, []string{"there is no such page"}, nil},
		"/run/a234567890/x":                                    {404, []string{"can&#39;t be had"}, nil},
	} {
		status, body, header := get(t, h, path)
		if status != want.status {
			t.Errorf("%s: status %d, want %d", path, status, want.status)
		}
		for _, s := range want.has {
			if !strings.Contains(body, s) {
				t.Errorf("%s does not have %q", path, s)
			}
		}
		for _, s := range want.hasNot {
			if strings.Contains(body, s) {
				t.Errorf("%s has %q", path, s)
			}
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: headers %v", path, header)
		}
		if !strings.Contains(header.Get("Content-Security-Policy")+body, "default-src") {
			t.Errorf("%s has no policy", path)
		}
	}
}

// The files are what the forms of a report are.
func TestFiles(t *testing.T) {
	s := filled(t)
	h := siteOf(s, false)
	for _, id := range []string{"a234567890", "d234567890"} {
		k := compare.Kept{}
		k.Run, _ = store.Latest(t.Context(), s, id)
		k.Trials, _ = store.Collect(t.Context(), s, id)
		d, err := document(k)
		if err != nil {
			t.Fatal(err)
		}
		for ending, form := range map[string]string{".json": "json", ".csv": "csv", ".md": "markdown", ".txt": "text", ".bench": "bench"} {
			f, err := report.FormatOf(form)
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := f.Render(&want, d, report.Options{Machines: true}); err != nil {
				t.Fatal(err)
			}
			status, body, header := get(t, h, "/run/"+id+"/"+id+ending)
			if status != 200 || body != want.String() || !strings.Contains(header.Get("Content-Disposition"), id+ending) {
				t.Errorf("%s%s: status %d, %d bytes, want %d, %v", id, ending, status, len(body), want.Len(), header)
			}
		}
		_, body, _ := get(t, h, "/run/"+id+"/"+id+".netdelta")
		all, err := result.DecodeBundle([]byte(body))
		if err != nil || len(all) != 1 || len(all[0].Trials) != len(k.Trials) {
			t.Errorf("bundle of %s: %d runs, %v", id, len(all), err)
		}
	}
}

func TestGuard(t *testing.T) {
	s := filled(t)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:7180": 200, "127.0.0.1:1": 200, "127.3.4.5": 200, "[::1]:80": 200, "LOCALHOST": 200,
		"evil.example": 421, "evil.example:7180": 421, "10.0.0.1": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		siteOf(s, false).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("by the name %q: status %d, want %d", host, w.Code, want)
		}
	}
	r := httptest.NewRequest(http.MethodHead, "http://localhost/", nil)
	w := httptest.NewRecorder()
	siteOf(s, false).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("HEAD: status %d", w.Code)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		r := httptest.NewRequest(method, "http://localhost/run/old/label", strings.NewReader("label=x"))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		siteOf(s, false).ServeHTTP(w, r)
		if w.Code != 405 {
			t.Errorf("%s to a site that is read only: status %d", method, w.Code)
		}
	}
}

func TestChanges(t *testing.T) {
	s := filled(t)
	h := siteOf(s, true)
	post := func(path, form string, header map[string]string) int {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	own := map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
	for _, c := range []struct {
		path, form string
		header     map[string]string
		want       int
	}{
		{"/run/b234567890/label", "label=newer", nil, 403},
		{"/run/b234567890/label", "label=newer", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"/run/b234567890/label", "label=newer", map[string]string{"Origin": "http://evil.example"}, 403},
		{"/run/b234567890/label", "label=newer", own, 303},
		{"/run/b234567890/label", "label=a%0ab", own, 400},
		{"/run/zzz4567890/label", "label=x", own, 404},
		{"/run/b234567890/baseline", "name=best", own, 303},
		{"/run/b234567890/baseline", "name=", own, 400},
		{"/run/b234567890/label", "label=" + strings.Repeat("x", maxForm), own, 400},
	} {
		if got := post(c.path, c.form, c.header); got != c.want {
			t.Errorf("%s %.20s %v: status %d, want %d", c.path, c.form, c.header, got, c.want)
		}
	}
	if r, err := store.Latest(t.Context(), s, "@best"); err != nil || r.Label != "newer" {
		t.Errorf("@best is %q, %v", r.Label, err)
	}
	if _, body, _ := get(t, h, "/"); !strings.Contains(body, "Set label") {
		t.Error("the list has no form")
	}
}

// Many ask at once.
func TestAtOnce(t *testing.T) {
	h := siteOf(filled(t), false)
	var all sync.WaitGroup
	for range 3 {
		for _, path := range []string{"/trend", "/", "/run/old", "/compare?old=old&new=new"} {
			all.Go(func() {
				if status, _, _ := get(t, h, path); status != 200 {
					t.Errorf("%s: status %d", path, status)
				}
			})
		}
	}
	all.Wait()
}

// Somebody who has gone gets nothing, and no error page either.
func TestGone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	siteOf(filled(t), false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/run/old", nil).WithContext(ctx))
	if data, _ := io.ReadAll(w.Body); len(data) > 0 && strings.Contains(string(data), "<h1>") && w.Code != 200 {
		t.Errorf("status %d, %d bytes", w.Code, len(data))
	}
}
