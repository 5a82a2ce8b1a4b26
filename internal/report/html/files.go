package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"

	"netdelta/internal/compare"
	"netdelta/internal/report/rows"
	"netdelta/internal/result"
)

// file is data that the page carries for somebody to save: compressed, as base64.
type file struct {
	Name, About, Data string
	// Packed says that the file itself is what gzip wrote, and is saved as it is.
	Packed bool
}

// filesOf are the report as JSON, every figure of every trial as CSV, and the raw runs
// as a bundle, where the document has trials.
func filesOf(d *compare.Document) ([]file, error) {
	var all []file
	add := func(name, about string, data []byte) error {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return err
		}
		z.Write(data) // a buffer takes everything
		if err := z.Close(); err != nil {
			return err
		}
		all = append(all, file{Name: name, About: about, Data: base64.StdEncoding.EncodeToString(b.Bytes())})
		return nil
	}
	var of any = d.Summary
	if d.Report != nil {
		of = d.Report
	}
	data, err := json.MarshalIndent(of, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := add("report.json", "this report, with all rows", append(data, '\n')); err != nil {
		return nil, err
	}
	if len(d.Trials()) == 0 {
		return all, nil
	}
	var csv bytes.Buffer
	if err := rows.CSV(&csv, d); err != nil {
		return nil, err
	}
	if err := add("trials.csv", "every figure of every trial", csv.Bytes()); err != nil {
		return nil, err
	}
	var runs []result.Bundled
	for _, k := range d.Kept {
		runs = append(runs, result.Bundled(k))
	}
	// Runs that were never kept may lack what a record needs; their trials are in the
	// CSV all the same.
	if bundle, err := result.EncodeBundle(runs); err == nil {
		all = append(all, file{Name: "runs.netdelta", About: "the raw trials, machines and plan, for netdelta compare", Data: base64.StdEncoding.EncodeToString(bundle), Packed: true})
	}
	return all, nil
}
