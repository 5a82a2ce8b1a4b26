package knob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine writes files of /proc and /sys, and returns a place of an interface
// there.
func machine(t *testing.T, files map[string]string) Place {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Place{Device: "eth0", root: root}
}

const interruptsText = `           CPU0       CPU1
  9:          3          4   IO-APIC   9-fasteoi   acpi
 24:        100         50   PCI-MSIX-0000:00:03.0   0-edge      virtio2-config
 25:          7          0   PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0
 26:          0          0   PCI-MSIX-0000:00:05.0   1-edge      virtio21-input.0
 27:          1          1   IO-APIC  17-edge      eth0-rx
NMI:          0          0   Non-maskable interrupts
`

// irqFiles adds the files of interrupts to those of a machine of two CPUs.
func irqFiles(files map[string]string) map[string]string {
	files["proc/interrupts"] = interruptsText
	files["sys/devices/system/cpu/online"] = "0-1\n"
	for n, cpus := range map[string]string{"9": "0-1", "24": "0-1", "25": "1", "26": "0", "27": "0"} {
		files["proc/irq/"+n+"/smp_affinity_list"] = cpus + "\n"
		files["proc/irq/"+n+"/effective_affinity_list"] = cpus[:1] + "\n"
	}
	return files
}

func TestInterruptsOfADevice(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		links map[string]string
		want  string
	}{
		"messages": {map[string]string{"sys/class/net/eth0/device/msi_irqs/24": "", "sys/class/net/eth0/device/msi_irqs/25": ""}, nil, "24:0-1 25:1"},
		"a pin":    {map[string]string{"sys/class/net/eth0/device/irq": "9\n"}, nil, "0-1"},
		"by name":  {map[string]string{"sys/class/net/eth0/mtu": ""}, nil, "0"},
		"virtio over PCI": {map[string]string{"sys/devices/0000:00:03.0/virtio2/modalias": "virtio:d00000001v00001AF4\n",
			"sys/devices/0000:00:03.0/msi_irqs/24": "", "sys/devices/0000:00:03.0/msi_irqs/25": "", "sys/class/net/eth0/mtu": ""},
			map[string]string{"sys/class/net/eth0/device": "../../../devices/0000:00:03.0/virtio2"}, "24:0-1 25:1"},
		"virtio by name": {map[string]string{"sys/devices/mmio.1/virtio2/modalias": "virtio:d00000001v00001AF4\n", "sys/class/net/eth0/mtu": ""},
			map[string]string{"sys/class/net/eth0/device": "../../../devices/mmio.1/virtio2"}, "24:0-1 25:1 27:0"},
	} {
		t.Run(name, func(t *testing.T) {
			p := machine(t, irqFiles(c.files))
			for at, to := range c.links {
				if err := os.Symlink(to, filepath.Join(p.root, at)); err != nil {
					t.Fatal(err)
				}
			}
			ctl, err := openIRQAffinity(p, setting("irq-affinity", ""), "")
			if err != nil {
				t.Fatal(err)
			}
			was, err := ctl.Read(t.Context())
			if err != nil || was != c.want {
				t.Fatalf("it is %q, %v, want %q", was, err, c.want)
			}
			if err := ctl.Write(t.Context(), "1,0"); err != nil {
				t.Fatal(err)
			}
			if now, err := ctl.Read(t.Context()); err != nil || !ctl.Equal(now, "1,0") {
				t.Errorf("it is %q, %v", now, err)
			}
			if err := ctl.Restore(t.Context(), was); err != nil {
				t.Fatal(err)
			}
			if now, err := ctl.Read(t.Context()); err != nil || now != was {
				t.Errorf("it was %q and is %q, %v", was, now, err)
			}
		})
	}
}

// An interrupt that arrived since and was handled elsewhere has not been moved; of
// one that did not arrive nothing can be said, and nothing is wrong.
func TestInterruptsMove(t *testing.T) {
	p := machine(t, irqFiles(map[string]string{"sys/class/net/eth0/device/msi_irqs/25": ""}))
	ctl, err := openIRQAffinity(p, setting("irq-affinity", ""), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := ctl.Write(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	settled := func(want bool) {
		t.Helper()
		if done, err := isSettled(t.Context(), ctl); done != want || err != nil {
			t.Errorf("settled %v, %v, want %v", done, err, want)
		}
	}
	settled(true)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/interrupts", strings.Replace(interruptsText, "25:          7", "25:          8", 1))
	settled(false)
	put("proc/irq/25/effective_affinity_list", "0\n")
	settled(true)
	if err := ctl.Write(t.Context(), "2"); err == nil || !strings.Contains(err.Error(), "CPU 2 is not online") {
		t.Errorf("a CPU that is not there: %v", err)
	}
}
