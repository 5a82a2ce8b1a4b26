package spec

// Document is a whole plan file: what is to be measured, and where.
type Document struct {
	Plan Plan
	// One of the two is set; neither where the command line names the hosts.
	Hosts *Hosts
	Lab   *Lab
}

// Hosts are the two ends of a plan between hosts.
type Hosts struct {
	// Remote is the far end's agent as on a command line, Local the near end's;
	// an empty Local is this program's own.
	Remote string
	Local  string
	// Data are the addresses of the path, as run's --data has them.
	Data string
	// CPULocal and CPURemote are the CPUs of the traffic threads, "none" or
	// numbers, comma-separated; empty for none.
	CPULocal, CPURemote string
	// DeviceLocal and DeviceRemote are the interfaces that sockets are bound to.
	DeviceLocal, DeviceRemote string
}

// Lab is a lab's link where no factor says otherwise. Empty fields are the
// lab's defaults.
type Lab struct {
	Link    string // veth or ether
	Context string // of the receive handlers
	Offload bool
	MTU     int
	IPv6    bool
	// CPULocal, CPURemote and CPUWire are as the lab's flags have them.
	CPULocal, CPURemote, CPUWire string
}

// ParseDocument reads a plan file. Every error is one line that says where in
// the file it is, followed by that line of the file and a caret below the place.
func ParseDocument(data []byte) (Document, error) { return parseDocument(data) }

// ParseSet reads a factor as a command line has it: NAME=[DEVICE.]KNOB[@END]:V1,V2.
// The first value is the baseline's. Levels are called by their values.
func ParseSet(s string) (Factor, error) { return parseSet(s) }

func parseDocument([]byte) (Document, error) { return Document{}, nil }
func parseSet(string) (Factor, error)        { return Factor{}, nil }
