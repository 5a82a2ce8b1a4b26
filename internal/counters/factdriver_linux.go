package counters

import (
	"fmt"
	"strings"

	"github.com/safchain/ethtool"
)

// features are switches of ethtool -k, beside the usual offloads, that bear on
// figures where a driver has them; by the kernel's names
// (net/ethtool/common.c).
var features = []string{
	"rx-lro", "rx-gro-hw", "rx-gro-list", "rx-udp-gro-forwarding", "tx-udp-segmentation", "tx-nocache-copy", "tx-scatter-gather-fraglist",
	"tx-tcp-mangleid-segmentation", "tx-gso-partial", "rx-hashing", "rx-ntuple-filter", "hw-tc-offload", "tls-hw-tx-offload", "tls-hw-rx-offload",
	"rx-vlan-hw-parse", "tx-vlan-hw-insert", "loopback", "esp-hw-offload", "macsec-hw-offload",
}

// driverFacts are what the interface's driver tells and how it is set, as
// ethtool(8) shows it. What a driver does not tell is left out.
func driverFacts(device string) []Fact {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return nil
	}
	defer e.Close()
	var driver, firmware, bus string
	if info, err := e.DriverInfo(device); err == nil {
		driver, firmware, bus = info.Version, info.FwVersion, info.BusInfo
	}
	speed, top := speeds(e, device)
	return valued(
		Fact{Name: "driver version", Value: known(driver)},
		Fact{Name: "firmware", Value: known(firmware)},
		Fact{Name: "bus", Value: known(bus)},
		Fact{Name: "speed", Value: speed},
		Fact{Name: "top speed", Value: top},
		Fact{Name: "features", Value: featuresOn(e, device)},
		Fact{Name: "rings", Value: rings(e, device)},
		Fact{Name: "channels", Value: channels(e, device)},
		Fact{Name: "coalescing", Value: coalescing(e, device)},
	)
}

// known leaves out what drivers write that have nothing to tell.
func known(v string) string {
	if v == "N/A" || v == "n/a" {
		return ""
	}
	return v
}

// Of linux/ethtool.h.
const (
	speedUnknown = 1<<32 - 1
	duplexHalf   = 0
	duplexFull   = 1
)

// modes are the speeds that an interface may say it supports, in Mbit/s, by
// their bits (enum ethtool_link_mode_bit_indices; those beyond 31 are not in
// struct ethtool_cmd).
var modes = []struct {
	mbit int
	bits []uint
}{
	{10, []uint{0, 1}}, {100, []uint{2, 3}}, {1000, []uint{4, 5, 17}}, {2500, []uint{15}}, {10000, []uint{12, 18, 19, 20}},
	{20000, []uint{21, 22}}, {40000, []uint{23, 24, 25, 26}}, {56000, []uint{27, 28, 29, 30}}, {25000, []uint{31}},
}

// speeds are that of the link, and the highest that the interface could have
// where it says which.
func speeds(e *ethtool.Ethtool, device string) (speed, top string) {
	var s ethtool.EthtoolCmd
	if _, err := e.CmdGet(&s, device); err != nil {
		return "", ""
	}
	mbit := uint32(s.Speed_hi)<<16 | uint32(s.Speed)
	if mbit != 0 && mbit != speedUnknown && mbit != 1<<16-1 {
		speed = fmt.Sprintf("%d Mbit/s", mbit)
	}
	switch s.Duplex {
	case duplexHalf:
		speed += " half duplex"
	case duplexFull:
		speed += " full duplex"
	}
	most := 0
	for _, m := range modes {
		for _, bit := range m.bits {
			if s.Supported&(1<<bit) != 0 {
				most = max(most, m.mbit)
			}
		}
	}
	if most >= int(mbit) && most > 0 {
		top = fmt.Sprintf("%d Mbit/s", most)
	}
	return strings.TrimSpace(speed), top
}

func featuresOn(e *ethtool.Ethtool, device string) string {
	all, err := e.Features(device)
	if err != nil {
		return ""
	}
	var on []string
	for _, name := range features {
		if all[name] {
			on = append(on, name)
		}
	}
	return strings.Join(on, " ")
}

// amounts writes those that a driver has, each as it is set and of how many.
func amounts(rows ...amount) string {
	var parts []string
	for _, r := range rows {
		if r.most > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", r.name, r.is, r.most))
		}
	}
	return strings.Join(parts, ", ")
}

type amount struct {
	name     string
	is, most uint32
}

func rings(e *ethtool.Ethtool, device string) string {
	r, err := e.GetRing(device)
	if err != nil {
		return ""
	}
	return amounts(amount{"rx", r.RxPending, r.RxMaxPending}, amount{"rx-mini", r.RxMiniPending, r.RxMiniMaxPending},
		amount{"rx-jumbo", r.RxJumboPending, r.RxJumboMaxPending}, amount{"tx", r.TxPending, r.TxMaxPending})
}

func channels(e *ethtool.Ethtool, device string) string {
	c, err := e.GetChannels(device)
	if err != nil {
		return ""
	}
	return amounts(amount{"rx", c.RxCount, c.MaxRx}, amount{"tx", c.TxCount, c.MaxTx}, amount{"combined", c.CombinedCount, c.MaxCombined})
}

// coalescing is how long and how much the interface waits before it
// interrupts.
func coalescing(e *ethtool.Ethtool, device string) string {
	c, err := e.GetCoalesce(device)
	if err != nil {
		return ""
	}
	adaptiveRx, adaptiveTx := c.UseAdaptiveRxCoalesce != 0, c.UseAdaptiveTxCoalesce != 0
	parts := []string{"adaptive-rx " + offOn(adaptiveRx), "adaptive-tx " + offOn(adaptiveTx)}
	for _, t := range []struct {
		name     string
		value    uint32
		adaptive bool // then the driver chooses, and the value moves by itself
	}{
		{"rx-usecs", c.RxCoalesceUsecs, adaptiveRx}, {"rx-frames", c.RxMaxCoalescedFrames, adaptiveRx},
		{"tx-usecs", c.TxCoalesceUsecs, adaptiveTx}, {"tx-frames", c.TxMaxCoalescedFrames, adaptiveTx},
		{"rx-usecs-irq", c.RxCoalesceUsecsIrq, adaptiveRx}, {"rx-frames-irq", c.RxMaxCoalescedFramesIrq, adaptiveRx},
	} {
		if t.value != 0 && !t.adaptive {
			parts = append(parts, fmt.Sprintf("%s %d", t.name, t.value))
		}
	}
	return strings.Join(parts, ", ")
}

func offOn(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
