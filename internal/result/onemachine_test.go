package result

import "testing"

func TestOneMachine(t *testing.T) {
	boot := func(end, id string) Environment {
		return Environment{End: end, Facts: []Fact{{Name: "kernel", Value: "6.1"}, {Name: FactBoot, Value: id}}}
	}
	for _, c := range []struct {
		name string
		envs []Environment
		want bool
	}{
		{"nothing known", nil, false},
		{"one boot", []Environment{boot(Local, "12345678"), boot(Remote, "12345678")}, true},
		{"two boots", []Environment{boot(Local, "12345678"), boot(Remote, "9abcdef0")}, false},
		{"one end does not tell", []Environment{boot(Local, "12345678"), {End: Remote}}, false},
		{"neither tells", []Environment{{End: Local}, {End: Remote}}, false},
	} {
		if got := OneMachine(c.envs); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
