package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"netdelta/internal/labtest/browser"
)

func TestInABrowser(t *testing.T) {
	server := httptest.NewServer(siteOf(filled(t), false))
	defer server.Close()
	p := browser.New(t)
	p.Open(server.URL+"/", 1280)
	started := func() []string {
		return browser.Eval[[]string](p, `[...document.querySelectorAll("#runs tbody tr")].map((r) => r.cells[2].textContent.trim())`)
	}
	newest := started()
	p.Click("#runs thead th:nth-child(5) button")
	oldest := started()
	if newest[0] != "d234567890" || oldest[0] != "a234567890" {
		t.Errorf("the newest first %q, the oldest first %q", newest, oldest)
	}
	p.Click(`input[name=old][value=a234567890]`)
	p.Click(`input[name=new][value=b234567890]`)
	p.Click("#compare")
	p.Await("svg.forest")
	if said := browser.Eval[string](p, `document.querySelector("h1").textContent`); !strings.Contains(said, "new against old") {
		t.Errorf("the comparison says %q", said)
	}
	if n := browser.Eval[int](p, `document.querySelectorAll("svg.forest .row").length`); n < 5 {
		t.Errorf("the comparison has %d rows", n)
	}
	for _, path := range []string{"/", "/trend", "/run/old", "/nowhere"} {
		p.Open(server.URL+path, 360)
		if wide := browser.Eval[int](p, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d wide on a phone", path, wide)
		}
		if browser.Eval[bool](p, `!!globalThis.hurt`) {
			t.Errorf("%s runs a label", path)
		}
	}
	p.Quiet(server.URL)
}
