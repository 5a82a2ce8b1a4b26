//go:build !linux

package counters

// details are facts beyond the table's; other systems than Linux have none.
func details(string) []Fact { return nil }
