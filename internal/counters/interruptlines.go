package counters

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// lineOwner says which interrupt lines are an interface's.
type lineOwner struct {
	numbers map[string]bool
	// names are its own and its device's: drivers name lines after either
	// ("eth0-TxRx-0", "virtio2-input.0", "mlx5_comp1@pci:0000:03:00.0").
	names []string
}

func (l *lineOwner) owns(number, action string) bool {
	if l.numbers[number] {
		return true
	}
	for _, n := range l.names {
		if NamesWord(action, n) {
			return true
		}
	}
	return false
}

// deviceLines finds the lines of the options' interface by what sysfs says of
// its device. An interface that has no device has none.
func deviceLines(o *Options) *lineOwner {
	l := &lineOwner{numbers: map[string]bool{}}
	if o.Device == "" || strings.ContainsRune(o.Device, '/') {
		return l
	}
	dir := filepath.Join(o.root, "sys/class/net", o.Device)
	device, err := filepath.EvalSymlinks(filepath.Join(dir, "device"))
	if err != nil || o.root == "/" && !sameDevice(dir, o.Device) {
		return l
	}
	l.names = []string{o.Device, filepath.Base(device)}
	// A virtio device gets its interrupts from the bus that it is on.
	if strings.HasPrefix(filepath.Base(device), "virtio") {
		l.find(filepath.Dir(device))
	}
	l.find(device)
	return l
}

// find adds the lines of a device below /sys/devices: message-signalled ones
// by number, or else the one of its pin (sysfs-bus-pci of the kernel's ABI
// documents).
func (l *lineOwner) find(device string) {
	entries, err := os.ReadDir(filepath.Join(device, "msi_irqs"))
	for _, e := range entries {
		l.numbers[e.Name()] = true
	}
	if err == nil && len(entries) > 0 {
		return
	}
	text, err := os.ReadFile(filepath.Join(device, "irq"))
	if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil && n > 0 {
		l.numbers[strconv.Itoa(n)] = true
	}
}

// sameDevice says that what sysfs shows under the name is this network
// namespace's interface: a mount shows those of the namespace in which it was
// made, and another namespace may have one of the same name.
func sameDevice(dir, name string) bool {
	d, err := net.InterfaceByName(name)
	if err != nil {
		return false
	}
	index, err := os.ReadFile(filepath.Join(dir, "ifindex"))
	if err != nil || strings.TrimSpace(string(index)) != strconv.Itoa(d.Index) {
		return false
	}
	address, err := os.ReadFile(filepath.Join(dir, "address"))
	return err == nil && (len(d.HardwareAddr) == 0 || strings.TrimSpace(string(address)) == d.HardwareAddr.String())
}

// NamesWord says that a word, such as an interface's name, is in a text with neither letter nor digit beside it.
func NamesWord(text, word string) bool {
	for from := 0; word != ""; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			break
		}
		begin, end := from+at, from+at+len(word)
		if (begin == 0 || !isAlnum(text[begin-1])) && (end == len(text) || !isAlnum(text[end])) {
			return true
		}
		from = begin + 1
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
