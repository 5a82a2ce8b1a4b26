package cli

import (
	"bytes"

	"netdelta/internal/compare"
	"netdelta/internal/result"
)

// readRunFile reads the runs in a file of this program's: a bundle, or what show --raw
// wrote. It says false for a file that is neither.
func readRunFile(data []byte) (kept []compare.Kept, ours bool, err error) {
	if result.IsBundle(data) {
		all, err := result.DecodeBundle(data)
		for _, x := range all {
			kept = append(kept, compare.Kept(x))
		}
		return kept, true, err
	}
	head := bytes.TrimLeft(data[:min(len(data), 200)], " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) || !bytes.Contains(head, []byte(`"netdelta.run-export/`)) {
		return nil, false, nil
	}
	run, trials, err := result.DecodeExport(data)
	if err != nil {
		return nil, true, err
	}
	return []compare.Kept{{Run: run, Trials: trials}}, true, nil
}
