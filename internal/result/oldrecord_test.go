package result

import (
	"slices"
	"testing"
)

// oldRecords are trials as version 0.1.0 wrote them, which knew nothing of
// counters.
var oldRecords = []struct {
	record  string
	figures []Taken
}{
	{`{"schema":"netdelta.trial/1","block":0,"order":0,"attempt":1,"variant":{},"test":{"test":"udp_stream","params":{"size":1024}},` +
		`"start":"2026-11-30T22:01:33.979822804Z","warmup_ns":25000000,"window_ns":100000000,` +
		`"local":{"role":"local","elapsed_ns":100000992,"messages":30122,"bytes":30844928,"counts":{"send_errors":0,"sent":30122,"sent_all":42880}},` +
		`"remote":{"role":"remote","elapsed_ns":100008273,"messages":28099,"bytes":28773376,"counts":{"duplicates":0,"received_all":39041,"reordered":0,"socket_drops":2025,"socket_drops_all":3839,"total":28097,"unique":28097}},"path":{}}`,
		[]Taken{{Goodput, Remote}, {Packets, Remote}, {Loss, Remote}, {Offered, Local}, {Duplicates, Remote}, {Reordered, Remote}, {Unaccounted, Remote}, {LossSocket, Remote}}},
	{`{"schema":"netdelta.trial/1","block":0,"order":1,"attempt":1,"variant":{},"test":{"test":"tcp_stream","params":{"size":131072}},` +
		`"start":"2026-11-30T22:01:34.193852885Z","warmup_ns":25000000,"window_ns":100000000,` +
		`"local":{"role":"local","elapsed_ns":100006851,"messages":2152,"bytes":282066944,"counts":{"retransmits":0}},` +
		`"remote":{"role":"remote","elapsed_ns":100066740,"messages":4585,"bytes":282066944},"path":{}}`,
		[]Taken{{Goodput, Remote}, {Retransmits, Local}, {Offered, Local}}},
}

// A record without counters is read, has the figures that it had, and says
// nothing against them; of what a host counts it says that nobody asked.
func TestOldRecordsAreRead(t *testing.T) {
	for _, c := range oldRecords {
		x, err := Decode([]byte(c.record))
		if err != nil {
			t.Fatal(err)
		}
		metrics, missing := x.Derive()
		var got []Taken
		for _, m := range metrics {
			got = append(got, m.Taken())
		}
		if !slices.Equal(got, c.figures) || len(missing) != 0 {
			t.Errorf("%s: figures %v, want %v; missing %v", x.Test, got, c.figures, missing)
		}
		if w := x.AllWarnings(); len(w) != 0 {
			t.Errorf("%s: %+v", x.Test, w)
		}
		told, uncounted := x.Tells()
		if told[Taken{CPUPerByte, Local}] || len(uncounted) == 0 {
			t.Errorf("%s: told %v, uncounted %v", x.Test, told, uncounted)
		}
		for _, w := range uncounted {
			if w.Code != NotAsked {
				t.Errorf("%s: %+v", x.Test, w)
			}
			if w.Metric == CPUPerByte && w.End == Local && w.Text != "the local end was not asked to read cpu" {
				t.Errorf("%s: %q", x.Test, w.Text)
			}
		}
		if x.Held(Remote) != nil {
			t.Errorf("%s is held: %+v", x.Test, x.Held(Remote))
		}
	}
}
