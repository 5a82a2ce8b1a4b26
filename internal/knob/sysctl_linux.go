package knob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"netdelta/internal/spec"
)

const sysctlRoot = "/proc/sys/"

// sysctl is one kernel parameter (proc_sys(5)). Those below net are of a network
// namespace, that of the thread that opens them.
type sysctl struct {
	place Place
	file  string // below /proc/sys
	host  bool   // one for the whole machine
}

func openSysctl(p Place, _ spec.Setting, arg string) (Control, error) { return sysctlAt(p, arg) }

// sysctlAt finds a parameter by its name, with dots or slashes as sysctl(8) has
// it.
func sysctlAt(p Place, name string) (*sysctl, error) {
	file := name
	// With dots for separators a slash stands for the dot of an interface's name.
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '.' {
		file = strings.NewReplacer(".", "/", "/", ".").Replace(name)
	}
	if file == "" || !fs.ValidPath(file) || path.Clean(file) == "." {
		return nil, fmt.Errorf("%q is no name of a kernel parameter: write it as sysctl -w has it", name)
	}
	c := &sysctl{place: p, file: file, host: machineWide(file)}
	if c.host {
		// A thread in another namespace does not see it.
		c.place.NS = nil
	}
	_, err := c.place.readFile(sysctlRoot + file)
	if errors.Is(err, fs.ErrNotExist) && c.place.NS != nil {
		// Not of namespaces: the machine has one.
		c.host, c.place.NS = true, nil
		_, err = c.place.readFile(sysctlRoot + file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unavailable("kernel parameter "+name, "read it", "a kernel that has it, in this network namespace",
			"list those that there are with sysctl -a", err)
	}
	// A file that cannot be read for another reason is told of when it is.
	return c, nil
}

// machineWide says whether a parameter is the machine's. Of those below net/core
// these few are not (netns_core_table in net/core/sysctl_net_core.c).
func machineWide(file string) bool {
	if name, ok := strings.CutPrefix(file, "net/core/"); ok {
		return !slices.Contains([]string{"somaxconn", "optmem_max", "rps_default_mask", "txrehash",
			"tstamp_allow_data", "bypass_prot_mem"}, name) && !strings.HasPrefix(name, "xfrm_")
	}
	return !strings.HasPrefix(file, "net/") || slices.Contains([]string{"net/ipv4/tcp_mem", "net/ipv4/udp_mem",
		"net/ipv4/tcp_max_orphans"}, file)
}

func (c *sysctl) ID() string {
	if c.host {
		return hostPrefix + "sysctl " + c.file
	}
	return "sysctl " + c.file
}

func (c *sysctl) Read(context.Context) (string, error) {
	text, err := c.place.readFile(sysctlRoot + c.file)
	return normal(text), err
}

func (c *sysctl) Write(_ context.Context, value string) error {
	return c.place.writeFile(sysctlRoot+c.file, value)
}

func (c *sysctl) Restore(ctx context.Context, was string) error { return c.Write(ctx, was) }

func (c *sysctl) Equal(read, asked string) bool { return normal(read) == normal(asked) }

// normal has one blank between words: files have tabs where users write blanks.
func normal(text string) string { return strings.Join(strings.Fields(text), " ") }
