//go:build !linux

package sys

// OpenNetNS reports that there are no network namespaces.
func OpenNetNS(string) (*NetNS, error) { return nil, needsLinux("open a network namespace") }

// NetNSID tells a network namespace from others.
type NetNSID struct {
	Inode  uint64 `json:"inode"`
	Cookie uint64 `json:"cookie,omitempty"`
}

// ID reports that there are no network namespaces.
func (n *NetNS) ID() (NetNSID, error) { return NetNSID{}, needsLinux("identify a network namespace") }
