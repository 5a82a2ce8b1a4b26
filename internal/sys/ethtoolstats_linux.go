package sys

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Commands and values of linux/ethtool.h.
const (
	ethtoolGDrvInfo  = 0x03
	ethtoolGStrings  = 0x1b
	ethtoolGStats    = 0x1d
	ethtoolSetStats  = 1  // ETH_SS_STATS
	ethtoolNameBytes = 32 // ETH_GSTRING_LEN
)

// maxDriverStats is for how many counters of a driver there is room. The kernel
// writes as many as there are, whatever the room is, and there may be more than
// there were.
const maxDriverStats = 1 << 15

// DriverStats are the counters of an interface's driver, as "ethtool -S" prints
// them. Their names are read once, since a driver makes them up anew each time
// that it is asked. It is for one goroutine.
type DriverStats struct {
	fd     int
	device string
	names  []string
	data   struct {
		cmd, n uint32
		values [maxDriverStats]uint64
	}
}

// OpenDriverStats reads the names of the counters of an interface in the
// thread's network namespace. There are none where the driver has none.
func OpenDriverStats(device string) (*DriverStats, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a socket for ethtool: %w", err)
	}
	d := &DriverStats{fd: fd, device: device}
	if err := d.readNames(); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("read the names of the counters of %s (ethtool): %w", device, err)
	}
	return d, nil
}

func (d *DriverStats) readNames() error {
	// struct ethtool_drvinfo.
	var info struct {
		cmd                          uint32
		_                            [32 * 5]byte
		_                            [12]byte
		privFlags, stats             uint32
		testInfo, eepromLen, regsLen uint32
	}
	info.cmd = ethtoolGDrvInfo
	if err := ethtool(d.fd, d.device, unsafe.Pointer(&info)); err != nil {
		return err
	}
	n := int(info.stats)
	if n == 0 {
		return nil
	}
	if n > maxDriverStats/2 {
		return fmt.Errorf("%d counters are more than %d", n, maxDriverStats/2)
	}
	// struct ethtool_gstrings, with room for as many again.
	const head = 12
	text := make([]uint32, (head+2*n*ethtoolNameBytes)/4)
	text[0], text[1], text[2] = ethtoolGStrings, ethtoolSetStats, uint32(n)
	if err := ethtool(d.fd, d.device, unsafe.Pointer(unsafe.SliceData(text))); err != nil {
		return err
	}
	n = min(int(text[2]), 2*n)
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(text))), 4*len(text))[head:]
	for i := range n {
		name, _, _ := bytes.Cut(all[i*ethtoolNameBytes:(i+1)*ethtoolNameBytes], []byte{0})
		d.names = append(d.names, string(bytes.TrimSpace(name)))
	}
	return nil
}

// Names are the counters' names, in the driver's order.
func (d *DriverStats) Names() []string { return d.names }

// Read returns the counters, in the order of their names, in memory that the
// next call does not touch. It is an error if there are not as many as names.
func (d *DriverStats) Read() ([]uint64, error) {
	d.data.cmd, d.data.n = ethtoolGStats, uint32(len(d.names))
	if err := ethtool(d.fd, d.device, unsafe.Pointer(&d.data)); err != nil {
		return nil, fmt.Errorf("read the counters of the driver of %s (ethtool): %w", d.device, err)
	}
	if n := int(d.data.n); n != len(d.names) {
		return nil, fmt.Errorf("read the counters of the driver of %s (ethtool): it had %d and now has %d", d.device, len(d.names), n)
	}
	return append([]uint64(nil), d.data.values[:len(d.names)]...), nil
}

// Close gives the socket up.
func (d *DriverStats) Close() error { return unix.Close(d.fd) }
