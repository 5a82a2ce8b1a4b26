// Package ping reads what ping prints.
package ping

import "netdelta/internal/interop/scan"

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found { return scan.Found{} }
