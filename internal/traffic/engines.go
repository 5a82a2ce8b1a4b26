package traffic

import (
	"fmt"
	"slices"
	"strings"
)

// engine is a row of the table of engines.
type engine struct {
	test, role string
	make       func(Config) Engine
}

// New returns the engine for one end of one test, or an error that names what
// is wrong with the configuration.
func New(cfg Config) (Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(engines, func(e engine) bool { return e.test == cfg.Test.Name && e.role == cfg.Role })
	if i < 0 {
		return nil, fmt.Errorf("test %s has no %s end%s", cfg.Test.Name, cfg.Role, has())
	}
	return engines[i].make(cfg), nil
}

// has says which engines there are.
func has() string {
	if len(engines) == 0 {
		return " here: carrying traffic needs Linux"
	}
	var names []string
	for _, e := range engines {
		names = append(names, e.test+" "+e.role)
	}
	return ": there are " + strings.Join(names, ", ")
}
