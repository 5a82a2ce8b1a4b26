package result

import (
	"netdelta/internal/spec"
	"netdelta/internal/unit"
)

var (
	// served are the round trips in which a worker takes part at the remote
	// end.
	served  = []spec.Pattern{spec.RoundTrip, spec.Connect}
	streams = []spec.Pattern{spec.Stream, spec.Reverse, spec.Duplex}
	// networked tests are all that send anything, workedBoth those of them with
	// a worker at each end, which every test with a Remote row must have.
	networked  = []spec.Pattern{spec.Echo, spec.RoundTrip, spec.Connect, spec.Stream, spec.Reverse, spec.Duplex}
	workedBoth = []spec.Pattern{spec.RoundTrip, spec.Connect, spec.Stream, spec.Reverse, spec.Duplex}
	everything = []spec.Pattern{spec.Echo, spec.RoundTrip, spec.Connect, spec.Wake, spec.Stream, spec.Reverse, spec.Duplex}
)

// costs is the table of what a test took: metrics of the counters that the two
// hosts read around the window.
var costs = []Definition{
	{CPUPerOp, Local, unit.SecondsPerOp, Lower, Percent, Main,
		"CPU time of the local end's host for each round trip", timed, nil, nil, localEnd, per(cpu(localEnd), ops), optional},
	{CPUPerOp, Remote, unit.SecondsPerOp, Lower, Percent, Main,
		"CPU time of the remote end's host for each round trip", served, nil, nil, localEnd, per(cpu(remoteEnd), ops), optional},
	{CPUPerByte, Local, unit.SecondsPerByte, Lower, Percent, Main,
		"CPU time of the local end's host for each byte that was received", streams, nil, nil, receiver, per(cpu(localEnd), payload), optional},
	{CPUPerByte, Remote, unit.SecondsPerByte, Lower, Percent, Main,
		"CPU time of the remote end's host for each byte that was received", streams, nil, nil, receiver, per(cpu(remoteEnd), payload), optional},
	{CPUSoakPerOp, Local, unit.SecondsPerOp, Lower, Percent, Main,
		"the same as an idle loop there saw it", timed, nil, nil, localEnd, per(soaked(localEnd), ops), optional},
	{CPUSoakPerOp, Remote, unit.SecondsPerOp, Lower, Percent, Main,
		"the same as an idle loop there saw it", served, nil, nil, localEnd, per(soaked(remoteEnd), ops), optional},
	{CPUSoakPerByte, Local, unit.SecondsPerByte, Lower, Percent, Main,
		"the same as an idle loop there saw it", streams, nil, nil, receiver, per(soaked(localEnd), payload), optional},
	{CPUSoakPerByte, Remote, unit.SecondsPerByte, Lower, Percent, Main,
		"the same as an idle loop there saw it", streams, nil, nil, receiver, per(soaked(remoteEnd), payload), optional},

	{BytesPerPacket, Remote, unit.BytesPerPacket, Higher, Percent, Main,
		"what a packet brings to the remote end's interface, headers included", forth, onlyTCP, nil, remoteEnd, bytesPerPacket(remoteEnd), optional},
	{BytesPerPacket, Local, unit.BytesPerPacket, Higher, Percent, Main,
		"what a packet brings to the local end's interface, headers included", back, onlyTCP, nil, localEnd, bytesPerPacket(localEnd), optional},
	{BytesPerPacket, Remote, unit.BytesPerPacket, Higher, Percent, Detail,
		"what a packet brings to the remote end's interface, headers included", forth, onlyUDP, nil, remoteEnd, bytesPerPacket(remoteEnd), optional},
	{Packets, Remote, unit.PerSecond, Higher, Percent, Detail,
		"packets that the remote end's interface received per second", forth, onlyTCP, nil, remoteEnd, packetRate(remoteEnd), optional},
	{Packets, Local, unit.PerSecond, Higher, Percent, Detail,
		"packets that the local end's interface received per second", back, onlyTCP, nil, localEnd, packetRate(localEnd), optional},
	{BytesPerSegment, Local, unit.BytesPerPacket, Higher, Percent, Detail,
		"payload of the segments that the local end sent", forth, onlyTCP, nil, localEnd, bytesPerSegment(localEnd), optional},
	{BytesPerSegment, Remote, unit.BytesPerPacket, Higher, Percent, Detail,
		"payload of the segments that the remote end sent", back, onlyTCP, nil, remoteEnd, bytesPerSegment(remoteEnd), optional},

	{CPU, Local, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time that the local end's host took beyond its baseline", everything, nil, nil, localEnd, cpu(localEnd), optional},
	{CPU, Remote, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time that the remote end's host took beyond its baseline", workedBoth, nil, nil, localEnd, cpu(remoteEnd), optional},
	{CPUSoak, Local, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time that an idle loop at the local end did not get", everything, nil, nil, localEnd, soaked(localEnd), optional},
	{CPUSoak, Remote, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time that an idle loop at the remote end did not get", workedBoth, nil, nil, localEnd, soaked(remoteEnd), optional},
	{CPUThreads, Local, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time of the local end's threads", everything, nil, nil, localEnd, threadTime(localEnd), optional},
	{CPUThreads, Remote, unit.SecondsPerSecond, Lower, Percent, Detail,
		"CPU time of the remote end's threads", workedBoth, nil, nil, localEnd, threadTime(remoteEnd), optional},
	{CPUThreadsPerOp, Local, unit.SecondsPerOp, Lower, Percent, Detail,
		"CPU time of the local end's threads for each round trip", timed, nil, nil, localEnd, per(threadTime(localEnd), ops), optional},
	{CPUThreadsPerOp, Remote, unit.SecondsPerOp, Lower, Percent, Detail,
		"CPU time of the remote end's threads for each round trip", served, nil, nil, localEnd, per(threadTime(remoteEnd), ops), optional},
	{CPUThreadsPerByte, Local, unit.SecondsPerByte, Lower, Percent, Detail,
		"CPU time of the local end's threads for each byte that was received", streams, nil, nil, receiver, per(threadTime(localEnd), payload), optional},
	{CPUThreadsPerByte, Remote, unit.SecondsPerByte, Lower, Percent, Detail,
		"CPU time of the remote end's threads for each byte that was received", streams, nil, nil, receiver, per(threadTime(remoteEnd), payload), optional},
	{CyclesPerOp, Local, unit.CyclesPerOp, Lower, Percent, Detail,
		"cycles of the local end's CPUs for each round trip", timed, nil, nil, localEnd, per(cycles(localEnd), ops), optional},
	{CyclesPerOp, Remote, unit.CyclesPerOp, Lower, Percent, Detail,
		"cycles of the remote end's CPUs for each round trip", served, nil, nil, localEnd, per(cycles(remoteEnd), ops), optional},
	{CyclesPerByte, Local, unit.CyclesPerByte, Lower, Percent, Detail,
		"cycles of the local end's CPUs for each byte that was received", streams, nil, nil, receiver, per(cycles(localEnd), payload), optional},
	{CyclesPerByte, Remote, unit.CyclesPerByte, Lower, Percent, Detail,
		"cycles of the remote end's CPUs for each byte that was received", streams, nil, nil, receiver, per(cycles(remoteEnd), payload), optional},

	{InterruptsPerPacket, Local, unit.PerPacket, Lower, Difference, Detail,
		"interrupts of the local end's interface for each of its packets", networked, nil, nil, localEnd, interrupts(localEnd), optional},
	{InterruptsPerPacket, Remote, unit.PerPacket, Lower, Difference, Detail,
		"interrupts of the remote end's interface for each of its packets", workedBoth, nil, nil, localEnd, interrupts(remoteEnd), optional},
	{Interrupts, Local, unit.PerSecond, Lower, Difference, Detail,
		"interrupts of the local end's interface per second", networked, nil, nil, localEnd, interruptRate(localEnd), optional},
	{Interrupts, Remote, unit.PerSecond, Lower, Difference, Detail,
		"interrupts of the remote end's interface per second", workedBoth, nil, nil, localEnd, interruptRate(remoteEnd), optional},
	{InterfacePackets, Local, unit.PerSecond, Higher, Percent, Detail,
		"packets that the local end's interface sent and received per second", networked, nil, nil, localEnd, interfacePackets(localEnd), optional},
	{InterfacePackets, Remote, unit.PerSecond, Higher, Percent, Detail,
		"packets that the remote end's interface sent and received per second", workedBoth, nil, nil, localEnd, interfacePackets(remoteEnd), optional},
	{SoftirqsPerPacket, Local, unit.PerPacket, Lower, Difference, Detail,
		"NET_RX and NET_TX softirqs for each packet of the local end's interface", networked, nil, nil, localEnd,
		perPacket(localEnd, rate(localEnd, SourceSoftirqs, "NET_RX", "NET_TX")), optional},
	{SoftirqsPerPacket, Remote, unit.PerPacket, Lower, Difference, Detail,
		"NET_RX and NET_TX softirqs for each packet of the remote end's interface", workedBoth, nil, nil, localEnd,
		perPacket(remoteEnd, rate(remoteEnd, SourceSoftirqs, "NET_RX", "NET_TX")), optional},
	{ContextSwitchesPerOp, Local, unit.PerOp, Lower, Difference, Detail,
		"context switches of the local end's host for each round trip", timed, nil, nil, localEnd, per(rate(localEnd, SourceCPU, "context_switches"), ops), optional},
	{ContextSwitchesPerOp, Remote, unit.PerOp, Lower, Difference, Detail,
		"context switches of the remote end's host for each round trip", served, nil, nil, localEnd, per(rate(remoteEnd, SourceCPU, "context_switches"), ops), optional},
	{WakeupsPerOp, Local, unit.PerOp, Lower, Difference, Detail,
		"threads woken at the local end's host for each round trip", timed, nil, nil, localEnd, per(rate(localEnd, SourceBPF, "wakeups"), ops), optional},
	{WakeupsPerOp, Remote, unit.PerOp, Lower, Difference, Detail,
		"threads woken at the remote end's host for each round trip", served, nil, nil, localEnd, per(rate(remoteEnd, SourceBPF, "wakeups"), ops), optional},
	{RunDelay, Local, unit.SecondsPerSecond, Lower, Difference, Detail,
		"time that the local end's traffic threads waited for a CPU", everything, nil, nil, localEnd, runDelay(localEnd), optional},
	{RunDelay, Remote, unit.SecondsPerSecond, Lower, Difference, Detail,
		"time that the remote end's traffic threads waited for a CPU", workedBoth, nil, nil, localEnd, runDelay(remoteEnd), optional},
}
