package result

import "time"

// Change is one setting of a host that was changed, and read back.
type Change struct {
	End string `json:"end"` // Local or Remote
	// Knob, Device and Value are as spec.Setting has them; Device is the one that
	// was meant, too, where the setting named none.
	Knob   string `json:"knob"`
	Device string `json:"device,omitempty"`
	Value  string `json:"value"`
	// Was is what it was just before.
	Was string `json:"was"`
	// Took is the time of the change itself, Settled what passed after it until the
	// host was ready again: the link up, its threads there, the peer answering.
	Took    time.Duration `json:"took_ns"`
	Settled time.Duration `json:"settled_ns"`
}
