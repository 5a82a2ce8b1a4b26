//go:build linux

package netlab

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"netdelta/internal/feature"
	"netdelta/internal/labtest"
	"netdelta/internal/sys"
)

// TestKernelThreadsAreBound looks for threads that were not there before and may
// run on one CPU only. Another lab that begins meanwhile makes it try again.
func TestKernelThreadsAreBound(t *testing.T) {
	_, handler := twoCPUs(t)
	for _, c := range []LinkConfig{
		{Kind: Ether, Context: "kthread", WireCPU: sys.NoCPU, HandlerCPU: handler},
		{Kind: Veth, Context: "kthread", HandlerCPU: handler},
	} {
		t.Run(c.Kind, func(t *testing.T) {
			lab := newLab(t)
			eventually(t, "both threads are bound", func() bool {
				old := map[int]bool{}
				for _, h := range []*Host{lab.A, lab.B} {
					pids, seen, err := sys.NAPIThreads(h.Device)
					if err != nil {
						t.Fatal(err)
					}
					if !seen {
						labtest.Skip(t, errors.New("kernel threads are hidden here (a PID namespace, hidepid)"))
					}
					for _, pid := range pids {
						old[pid] = true
					}
				}
				k := connect(t, lab, c)
				defer k.Close()
				for _, w := range k.Warnings() {
					if strings.Contains(w, "CAP_SYS_NICE") {
						labtest.Skip(t, errors.New(w))
					}
				}
				bound := 0
				for _, h := range []*Host{lab.A, lab.B} {
					pids, _, err := sys.NAPIThreads(h.Device)
					if err != nil {
						t.Fatal(err)
					}
					for _, pid := range pids {
						var set unix.CPUSet
						if !old[pid] && unix.SchedGetaffinity(pid, &set) == nil && set.Count() == 1 && set.IsSet(handler) {
							bound++
						}
					}
				}
				ping(t, k, 4)
				return bound >= 2 && len(k.Warnings()) == 0
			})
		})
	}
}

// TestInAUserNamespace: what its root may not do is said so, or done without.
func TestInAUserNamespace(t *testing.T) {
	if os.Getenv("NETDELTA_IN_USERNS") == "" {
		labtest.Need(t, feature.UserNS)
		status, err := sys.ReexecInUserNS([]string{"-test.run=^TestInAUserNamespace$"})
		if err != nil || status != 0 {
			t.Errorf("in a user namespace: exit status %d, %v", status, err)
		}
		return
	}
	labtest.Need(t, feature.NetNS, feature.TAPNAPI)
	var e *feature.Error
	err := Check(LinkConfig{Kind: Ether, Context: "frags", WireCPU: sys.NoCPU, HandlerCPU: sys.NoCPU})
	if !errors.As(err, &e) || !strings.Contains(e.Need, "initial user namespace") || !strings.Contains(err.Error(), "context frags") {
		t.Errorf("frags: %v", err)
	}
	lab := newLab(t)
	c := LinkConfig{Kind: Ether, Context: "backlog", WireCPU: sys.NoCPU, HandlerCPU: sys.NoCPU}
	if err := Check(c); err == nil {
		k := connect(t, lab, c)
		ping(t, k, 10)
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	} else if !errors.As(err, &e) || !strings.Contains(e.Need, "Linux 6.3") {
		t.Errorf("backlog: %v", err)
	}
	c = LinkConfig{Kind: Ether, Context: "kthread", WireCPU: sys.NoCPU, HandlerCPU: 0}
	k := connect(t, lab, c)
	defer k.Close()
	ping(t, k, 10)
	// The kernel's threads are root's, who may bind them from here too; of others
	// each host says that it could not.
	unbound := 0
	for _, w := range k.Warnings() {
		if strings.Contains(w, "not bound to CPU 0") {
			unbound++
		}
	}
	if unbound != 0 && unbound != 2 {
		t.Errorf("warnings %q, want none or one a host", k.Warnings())
	}
}
