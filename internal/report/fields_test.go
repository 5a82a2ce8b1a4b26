package report

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/compare"
	"netdelta/internal/spec"
)

// fields are the names that a value of a type has in JSON, with those inside.
func fields(of reflect.Type, into map[string]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		fields(of.Elem(), into)
	case reflect.Struct:
		// Parameters of tests are told with the tests.
		if of == reflect.TypeFor[spec.Params]() || !strings.HasPrefix(of.PkgPath(), "netdelta/") {
			return
		}
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				into[name] = true
			}
			fields(f.Type, into)
		}
	}
}

// The page on the JSON form names every field, and its tables name no other.
func TestEveryFieldIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "report-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	fields(reflect.TypeFor[compare.Report](), known)
	if len(known) < 90 {
		t.Fatalf("only %d fields found", len(known))
	}
	quoted := regexp.MustCompile("`([a-z_]+)`")
	var told []string
	for _, m := range quoted.FindAllStringSubmatch(string(page), -1) {
		told = append(told, m[1])
	}
	for name := range known {
		if !slices.Contains(told, name) {
			t.Errorf("docs/report-json.md does not tell of %s", name)
		}
	}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			if !known[m[1]] {
				t.Errorf("docs/report-json.md tells of %s, which no report has", m[1])
			}
		}
	}
}
