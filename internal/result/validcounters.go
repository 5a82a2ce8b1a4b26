package result

// Validate reports the first thing in the counters that no host could have
// counted. Those of nil are valid.
func (c *Counters) Validate() error { return c.validate() }
