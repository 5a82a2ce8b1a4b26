package text

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdelta/internal/doctor"
	"netdelta/internal/result"
)

func doctorPage(t interface{ Fatal(...any) }, r doctor.Report) string {
	var b bytes.Buffer
	if err := RenderDoctor(&b, &r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDoctorPage(t *testing.T) {
	page := doctorPage(t, doctor.Report{
		Ends: []doctor.End{
			{End: result.Local, Host: "bench1", Device: "eth0", LookedNS: 1003e6, Fine: []string{"load", "swap"}, Unknown: []string{"turbo"}},
			{End: result.Remote, Host: "bench2"},
		},
		Findings: []doctor.Finding{
			{Code: "governor", End: result.Local, Weight: 72, What: "the frequency governor is powersave", Why: "CPUs begin slowly", HowMuch: "from 800 to 3500 MHz", Command: "cpupower frequency-set -g performance"},
			{Code: "rps", End: result.Local, Weight: 22, What: "packets of eth0 are handed on", Why: "each costs an interrupt", Advice: "leave it",
				Command: "for q in /sys/class/net/eth0/queues/rx-*; do echo 0 > $q/rps_cpus; done"},
		},
	})
	want := `Local end, bench1, interface eth0, looked at for 1s
  severe: the frequency governor is powersave.
    CPUs begin slowly: from 800 to 3500 MHz.
    # cpupower frequency-set -g performance
  minor: packets of eth0 are handed on.
    Each costs an interrupt.
    # for q in /sys/class/net/eth0/queues/rx-*; do echo 0 > \
      $q/rps_cpus; done
    Leave it.
  Fine: load, swap.
  Could not be told: turbo.

Remote end, bench2
  Nothing was found that would spoil a measurement.

Found: 1 severe, 1 minor. Nothing was changed; the commands are for root
at the end that they stand under.
`
	if page != want {
		t.Errorf("got\n%s\nwant\n%s", page, want)
	}
}

// Whatever is found, the page is fit for mail, and a command pasted from it is
// the command.
func TestAnyDoctorPage(t *testing.T) {
	words := rapid.Map(rapid.SliceOfN(rapid.StringMatching(`[!-&(-\[\]-~]{1,90}`), 1, 12), func(w []string) string { return strings.Join(w, " ") })
	finding := rapid.Custom(func(t *rapid.T) doctor.Finding {
		return doctor.Finding{End: rapid.SampledFrom([]string{result.Local, doctor.Path, "x"}).Draw(t, "end"), Weight: rapid.Int().Draw(t, "weight"),
			What: rapid.String().Draw(t, "what"), Why: rapid.String().Draw(t, "why"), HowMuch: rapid.String().Draw(t, "how much"),
			Command: words.Draw(t, "command"), Advice: rapid.String().Draw(t, "advice")}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := doctor.Report{Ends: []doctor.End{{End: result.Local, Host: rapid.String().Draw(t, "host"), Fine: rapid.SliceOfN(rapid.String(), 0, 9).Draw(t, "fine")}},
			Findings: rapid.SliceOfN(finding, 0, 4).Draw(t, "findings")}
		page := doctorPage(t, r)
		checkPage(t, page)
		for _, f := range r.Findings {
			got := strings.Join(shellLines(f.Command, "    #", "     "), "\n")
			got = strings.TrimPrefix(got, "    # ")
			// As a shell joins lines, of which it drops the blanks that follow one.
			got = strings.Join(strings.Fields(strings.ReplaceAll(got, "\\\n", "")), " ")
			if got != f.Command {
				t.Fatalf("%q came out as %q", f.Command, got)
			}
		}
	})
}
