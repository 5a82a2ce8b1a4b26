package compare

import "netdelta/internal/result"

// FactsOf is what is known of both ends of one run as one list: what is the same
// at both is named once, what is one end's is named with that end.
func FactsOf(environments []result.Environment) []Fact {
	byEnd := map[string][]Fact{}
	for _, e := range environments {
		byEnd[e.End] = e.Facts
	}
	return named(byEnd)
}
