// Package neper reads what neper prints.
package neper

import "netdelta/internal/interop/scan"

// Read finds the outputs in a file.
func Read(f *scan.File) scan.Found { return scan.Found{} }
