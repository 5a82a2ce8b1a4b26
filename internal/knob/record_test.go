package knob

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"netdelta/internal/spec"
)

func FuzzDecodeRecord(f *testing.F) {
	r := record{Boot: "b", Device: "eth0", Ifindex: 2}
	r.Entry = Entry{Setting: spec.Setting{Knob: "mtu", Value: "1400"}, End: "local", ID: "net 1.1 eth0 mtu", Was: "64", PID: 7, Since: time.Unix(1, 0)}
	data, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"schema":"netdelta.setting/1","id":"x","boot":"b","setting":{"knob":"mtu"},"interface":"../x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var id struct{ ID string }
		_ = json.Unmarshal(data, &id)
		r, err := decodeRecord(stemOf(id.ID), data)
		if err != nil {
			return
		}
		if r.ID == "" || r.Boot == "" || strings.Contains(r.Device, "/") {
			t.Errorf("taken for whole: %+v", r)
		}
		again, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeRecord(stemOf(r.ID), again); err != nil {
			t.Errorf("it cannot be read again: %v", err)
		}
		if _, err := decodeRecord(stemOf(r.ID+"x"), data); err == nil {
			t.Error("the file of another setting is taken for its")
		}
	})
}
