package traffic

import (
	"fmt"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

// engine is a row of the table of engines. Of several rows for an end of a
// test the first whose when holds is taken; a nil when always holds.
type engine struct {
	test, role string
	when       func(spec.Test) bool
	make       func(Config) Engine
}

// New returns the engine for one end of one test, or an error that names what
// is wrong with the configuration.
func New(cfg Config) (Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := Place(&cfg); err != nil {
		return nil, err
	}
	cfg.share = newShare(cfg.Test)
	table := engines()
	i := slices.IndexFunc(table, func(e engine) bool {
		return e.test == cfg.Test.Name && e.role == cfg.Role && (e.when == nil || e.when(cfg.Test))
	})
	if i < 0 {
		return nil, fmt.Errorf("test %s has no %s end%s", cfg.Test.Name, cfg.Role, has())
	}
	return table[i].make(cfg), nil
}

// has says which engines there are.
func has() string {
	if len(engines()) == 0 {
		return " here: carrying traffic needs Linux, macOS or FreeBSD"
	}
	var names []string
	for _, e := range engines() {
		if name := e.test + " " + e.role; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return ": there are " + strings.Join(names, ", ")
}
