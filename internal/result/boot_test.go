package result

import "testing"

// A record of the form before is read as a run that stands for no boot.
func TestFirstRunsAreRead(t *testing.T) {
	r, err := DecodeRun([]byte(`{"schema":"netdelta.run/1","id":"0123456789","state":"complete","start":"2020-02-29T23:59:59Z"}`))
	if err != nil || r.PerBoot || r.Schema != RunSchema {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestBootOf(t *testing.T) {
	end := func(name, boot string) Environment {
		return Environment{End: name, Facts: []Fact{{"kernel", "6.18"}, {FactBoot, boot}}}
	}
	for _, c := range []struct {
		of   []Environment
		want string
	}{
		{[]Environment{end(Local, "a"), end(Remote, "b")}, "a b"},
		{[]Environment{end(Local, "a"), end(Remote, "c")}, "a c"},
		{[]Environment{end(Remote, "a"), end(Local, "a")}, "a a"},
		{[]Environment{end(Local, "a")}, ""},
		{[]Environment{end(Local, "a"), {End: Remote}}, ""},
		{nil, ""},
	} {
		if got := BootOf(c.of); got != c.want {
			t.Errorf("BootOf(%v) is %q, want %q", c.of, got, c.want)
		}
	}
}
