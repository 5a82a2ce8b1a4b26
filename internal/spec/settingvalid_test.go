package spec

import (
	"strings"
	"testing"
)

func TestSettingValidate(t *testing.T) {
	run := &Command{Apply: "true"}
	for _, c := range []struct {
		s    Setting
		want string // of the error; empty for none
	}{
		{Setting{End: EndBoth, Knob: "gro", Value: "on"}, ""},
		{Setting{End: EndLocal, Knob: "gro", Device: "eth0.7", Value: "on"}, ""},
		{Setting{End: EndRemote, Knob: "sysctl.net.core.rmem_max", Value: "1"}, ""},
		{Setting{End: EndBoth, Knob: "command", Command: run}, ""},
		{Setting{End: EndBoth, Knob: "grow", Value: "on"}, "unknown knob"},
		{Setting{Knob: "gro", Value: "on"}, "valid are local, remote, both"},
		{Setting{End: EndBoth, Knob: "gro", Value: "1"}, "on, off"},
		{Setting{End: EndBoth, Knob: "gro"}, "on, off"},
		{Setting{End: EndBoth, Knob: "gro", Device: "0123456789abcdef", Value: "on"}, "longer than an interface's name"},
		{Setting{End: EndBoth, Knob: "gro", Device: "../eth0", Value: "on"}, "no interface's name"},
		{Setting{End: EndBoth, Knob: "gro", Device: "..", Value: "on"}, "no interface's name"},
		{Setting{End: EndBoth, Knob: "congestion", Device: "eth0", Value: "cubic"}, "none of an interface's"},
		{Setting{End: EndBoth, Knob: "command"}, "no command is given"},
		{Setting{End: EndBoth, Knob: "gro", Value: "on", Command: run}, "takes no command"},
		{Setting{End: EndBoth, Knob: "command", Command: &Command{Check: "true"}}, "apply is empty"},
		{Setting{End: EndBoth, Knob: "command", Command: &Command{Apply: "a\x00"}}, "zero byte"},
		{Setting{End: EndBoth, Knob: "command", Command: &Command{Apply: strings.Repeat("x", maxCommand+1)}}, "8193 bytes"},
	} {
		err := c.s.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want one with %q", c.s, err, c.want)
		}
	}
}
