package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"netdelta/internal/cli"
	"netdelta/internal/doctor"
	"netdelta/internal/result"
)

// examined decodes what doctor found.
func examined(t *testing.T, o outcome) doctor.Report {
	t.Helper()
	o.want(t, cli.ExitDone)
	var r struct {
		doctor.Report
		Findings []struct {
			doctor.Finding
			Level string `json:"level"`
		} `json:"findings"`
	}
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || d.More() {
		t.Fatalf("%v\n%s", err, o.stdout)
	}
	for _, f := range r.Findings {
		if f.Level != f.Finding.Level() {
			t.Errorf("level %q of %+v", f.Level, f.Finding)
		}
		r.Report.Findings = append(r.Report.Findings, f.Finding)
	}
	return r.Report
}

// Both ends are told, each with its interface of the path, and that they are
// one machine; what is wrong with the path is found.
func TestDoctorOfTwoHosts(t *testing.T) {
	x := newTwoHosts(t)
	x.start(t, "--secret-file", x.secret)
	ask := func(args ...string) outcome {
		return in(t, x.lab.A.NS, append([]string{"doctor", x.link.AddrB().String(), "--secret-file", x.secret, "--look", "100ms"}, args...)...)
	}
	r := examined(t, ask("--format", "json"))
	if r.Schema != doctor.Schema || len(r.Ends) != 2 || r.Ends[0].End != result.Local || r.Ends[1].End != result.Remote {
		t.Fatalf("%+v", r)
	}
	for i, device := range []string{x.lab.A.Device, x.lab.B.Device} {
		if e := r.Ends[i]; e.Device != device || e.LookedNS < 1e8 || e.Host == "" || len(e.Fine) == 0 {
			t.Errorf("%+v, want the interface %s", e, device)
		}
	}
	codes := func(r doctor.Report, end string) (all []string) {
		for _, f := range r.At(end) {
			all = append(all, f.Code)
		}
		return all
	}
	if got := codes(r, doctor.Path); !slices.Equal(got, []string{"one-machine"}) {
		t.Errorf("of the path: %v", got)
	}
	for _, end := range []string{result.Local, result.Remote} {
		if got := codes(r, end); !slices.Contains(got, "virtual-device") {
			t.Errorf("no veth is found at the %s end: %v", end, got)
		}
	}

	ip(t, x.lab.B.NS, "link", "set", "dev", x.lab.B.Device, "mtu", "1400")
	o := ask()
	o.want(t, cli.ExitDone)
	checkWidth(t, o.stdout)
	flat := strings.Join(strings.Fields(o.stdout), " ")
	for _, want := range []string{"Path serious: the MTU of ", "# ip link set dev " + x.lab.A.Device + " mtu 1400", "Local end, ", "Remote end, ", ", interface " + x.lab.B.Device,
		"note: " + x.lab.A.Device + " is a veth.", "Fine: ", "Found: ", "Nothing was changed"} {
		if !strings.Contains(flat, want) {
			t.Errorf("%q is not on the page:\n%s", want, o.stdout)
		}
	}

	// A path that does not leave its host.
	x.startIn(t, x.lab.A.NS, "--secret-file", x.secret)
	loop := examined(t, in(t, x.lab.A.NS, "doctor", x.link.AddrA().String(), "--secret-file", x.secret, "--look", "100ms", "--format", "json"))
	if got := codes(loop, doctor.Path); !slices.Equal(got, []string{"loopback"}) || loop.Findings[0].Code != "loopback" {
		t.Errorf("of a loopback path: %v", got)
	}
}

// Who can't be asked is no finding, but a failure.
func TestDoctorReachesNobody(t *testing.T) {
	x := newTwoHosts(t)
	in(t, x.lab.A.NS, "doctor", x.link.AddrB().String(), "--secret-file", x.secret).want(t, cli.ExitUnmeasured, "is the agent running there")
}
