package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdelta/internal/unit"
)

// Params are a test's parameters. Sizes and buffers are in bytes. Zero and
// the empty text mean the test's default, or the kernel's.
type Params struct {
	// Size is the message's size; for round trips that of both directions.
	Size int `json:"size,omitempty"`
	// Request and Response are the two directions' sizes where they differ.
	Request  int `json:"request,omitempty"`
	Response int `json:"response,omitempty"`
	// SndBuf and RcvBuf are SO_SNDBUF and SO_RCVBUF of both ends, as given
	// to setsockopt (the kernel doubles them, socket(7)).
	SndBuf int `json:"sndbuf,omitempty"`
	RcvBuf int `json:"rcvbuf,omitempty"`
	// Flows is the number of connections or sockets, Threads that of the
	// threads of each end that they are shared out to. 0 is one.
	Flows   int `json:"flows,omitempty"`
	Threads int `json:"threads,omitempty"`
	// Burst is how many requests of a flow are outstanding; 0 is one.
	Burst int `json:"burst,omitempty"`
	// Count and Bytes end the window when so many messages, or bytes of one
	// direction, are through; the window's length is then the most that it
	// may take.
	Count int `json:"count,omitempty"`
	Bytes int `json:"bytes,omitempty"`
	// Rate and BitRate are an open loop's: messages, or bits of payload in
	// the direction of the test, per second.
	Rate    int `json:"rate,omitempty"`
	BitRate int `json:"bit_rate,omitempty"`
	// CatchUp has an open loop send what a stall has held up, all at once;
	// otherwise the slots that it missed stay empty.
	CatchUp Switch `json:"catchup,omitempty"`
	// Pacing is SO_MAX_PACING_RATE of each flow, in bit/s.
	Pacing int `json:"pacing,omitempty"`
	// Load is the stream that flows beside the round trips.
	Load string `json:"load,omitempty"`
	// Wait is how a stream's receiver that has nothing to do waits: "block", the
	// default, for the next message, or "nap", until some have come.
	Wait string `json:"wait,omitempty"`
	// Send and Recv are the methods of the sending and the receiving end.
	Send string `json:"send,omitempty"`
	Recv string `json:"recv,omitempty"`
	// File is the path of a file on the sending host whose content is sent,
	// again and again; empty for one that is made for the trial, FileSize
	// bytes long.
	File     string `json:"file,omitempty"`
	FileSize int    `json:"filesize,omitempty"`
	// NoDelay is TCP_NODELAY, on for round trips and off for streams unless
	// given.
	NoDelay Switch `json:"nodelay,omitempty"`
	// Congestion is TCP_CONGESTION, MSS is TCP_MAXSEG in bytes (tcp(7)).
	Congestion string `json:"congestion,omitempty"`
	MSS        int    `json:"mss,omitempty"`
	// DSCP is the upper six bits of IP_TOS or IPV6_TCLASS, Mark is SO_MARK.
	DSCP int `json:"dscp,omitempty"`
	Mark int `json:"mark,omitempty"`
	// BusyPoll is SO_BUSY_POLL in microseconds.
	BusyPoll int `json:"busypoll,omitempty"`
	// FIFO is the priority of the traffic threads under SCHED_FIFO; 0 leaves
	// them in the ordinary class (sched(7)).
	FIFO int `json:"fifo,omitempty"`
	// By is what wakes a thread.
	By string `json:"by,omitempty"`
	// At says whether the two threads that wake each other share one CPU (WakeSame)
	// or have one each; empty for the CPUs that the end is bound to.
	At string `json:"at,omitempty"`
	// Busy is what else runs on the CPUs of a wake test: a loop of idle priority
	// (WakeAwake), so that they never sleep, or one of ordinary priority (WakeLoaded).
	Busy string `json:"busy,omitempty"`
	// Explain has round trips watched on their way (ExplainAuto and so on), so that
	// it can be told where their time goes; empty for none. Such a test's figures are
	// those of a watched path, and are compared with no others.
	Explain string `json:"explain,omitempty"`
}

// Values of explain: what tells where a message is.
const (
	ExplainAuto   = "auto"   // the sharpest that can be had
	ExplainBPF    = "bpf"    // programs at the kernel's tracepoints
	ExplainStamps = "stamps" // SO_TIMESTAMPING
	ExplainClock  = "clock"  // nothing but the clock around the calls
)

// Values of at and busy.
const (
	WakeSame   = "same"
	WakeOther  = "other"
	WakeAwake  = "awake"
	WakeLoaded = "loaded"
)

// Switch is on, off, or the default if it is empty.
type Switch string

const (
	On  Switch = "on"
	Off Switch = "off"
)

// Values of wait.
const (
	// Block has a receiver woken for what comes next, as most programs are.
	Block = "block"
	// Nap has it sleep until some have come.
	Nap = "nap"
)

// waits are the values of wait, the default first.
var waits = [...]string{Block, Nap}

// Limits of parameters that are not sizes.
const (
	MaxFlows   = 10000
	MaxThreads = 256
	MaxBurst   = 4096
	// MaxOutstanding is the most outstanding requests of all flows together.
	MaxOutstanding = 1 << 20
	// MaxBurstOfBytes is the largest burst of datagrams of one byte.
	MaxBurstOfBytes = 16
	MaxRate         = 100_000_000        // messages per second
	MaxBitRate      = 10_000_000_000_000 // bit/s
	MaxBusyPoll     = 1_000_000          // us
	MaxFileSize     = 1 << 46
	maxCount        = 1 << 53
	maxWord         = 16  // bytes; TCP_CA_NAME_MAX of linux/tcp.h
	maxPath         = 255 // bytes of a file's path
)

// WakeMethods are the values of by: what a thread of the wake test sleeps on.
func WakeMethods() []string { return []string{"futex", "eventfd", "pipe", "cond"} }

// Loads are the values of load.
func Loads() []string { return []string{"udp_stream", "tcp_stream", "tcp_maerts", "tcp_bidir"} }

// param is one parameter's row: how it is written and what it may be.
type param struct {
	name string
	// get is the value as set reads it; "" if the parameter has its default.
	get func(*Params) string
	// set reads a value for one kind of test.
	set func(p *Params, k Kind, value string) error
	// check is for values that did not come through set.
	check func(*Params, Kind) error
	// values are those of a parameter that has some words to choose from.
	values func(Kind) []string
	form   string // NAME=form
	about  string
}

// params is the table of parameters, in the order in which a test is written.
var params = []param{
	size("size", func(p *Params) *int { return &p.Size }, Kind.message, "message size"),
	size("request", func(p *Params) *int { return &p.Request }, Kind.message, "request size"),
	size("response", func(p *Params) *int { return &p.Response }, Kind.message, "response size"),
	size("sndbuf", func(p *Params) *int { return &p.SndBuf }, limit(MaxSockBuf), "SO_SNDBUF of both ends"),
	size("rcvbuf", func(p *Params) *int { return &p.RcvBuf }, limit(MaxSockBuf), "SO_RCVBUF of both ends"),
	number("flows", func(p *Params) *int { return &p.Flows }, 1, MaxFlows, "connections or sockets"),
	number("threads", func(p *Params) *int { return &p.Threads }, 1, MaxThreads, "threads of each end that the flows are shared out to"),
	number("burst", func(p *Params) *int { return &p.Burst }, 1, MaxBurst, "outstanding requests of each flow"),
	number("count", func(p *Params) *int { return &p.Count }, 1, maxCount, "messages after which the window ends"),
	size("bytes", func(p *Params) *int { return &p.Bytes }, limit(maxCount), "length of what is transferred, after which the window ends,"),
	rate,
	onOff("catchup", func(p *Params) *Switch { return &p.CatchUp }, "whether an open loop sends late what a stall has held up"),
	bits("pacing", func(p *Params) *int { return &p.Pacing }, "SO_MAX_PACING_RATE of each flow"),
	word("load", func(p *Params) *string { return &p.Load }, loadsBeside, "a stream beside the round trips"),
	word("send", func(p *Params) *string { return &p.Send }, func(k Kind) []string { return methodNames(sendMethods, k.Protocol) }, "how the sender hands data to the kernel"),
	word("recv", func(p *Params) *string { return &p.Recv }, func(k Kind) []string { return methodNames(recvMethods, k.Protocol) }, "how the receiver gets data from the kernel"),
	word("wait", func(p *Params) *string { return &p.Wait }, func(Kind) []string { return waits[:] }, "how an idle receiver waits: for the next message, or until some have come"),
	text("file", func(p *Params) *string { return &p.File }, "PATH", maxPath, "file on the sending host that is sent"),
	size("filesize", func(p *Params) *int { return &p.FileSize }, limit(MaxFileSize), "size of the file that is made for the trial"),
	onOff("nodelay", func(p *Params) *Switch { return &p.NoDelay }, "TCP_NODELAY of both ends"),
	text("congestion", func(p *Params) *string { return &p.Congestion }, "NAME", maxWord-1, "TCP_CONGESTION of both ends"),
	number("mss", func(p *Params) *int { return &p.MSS }, 88, 32767, "TCP_MAXSEG of both ends in bytes"),
	number("dscp", func(p *Params) *int { return &p.DSCP }, 1, 63, "DSCP of what both ends send"),
	number("mark", func(p *Params) *int { return &p.Mark }, 1, 1<<32-1, "SO_MARK of both ends"),
	number("busypoll", func(p *Params) *int { return &p.BusyPoll }, 1, MaxBusyPoll, "SO_BUSY_POLL of both ends in us"),
	number("fifo", func(p *Params) *int { return &p.FIFO }, 1, 99, "priority of the traffic threads under SCHED_FIFO"),
	word("by", func(p *Params) *string { return &p.By }, func(Kind) []string { return WakeMethods() }, "what wakes a thread"),
	word("at", func(p *Params) *string { return &p.At }, func(Kind) []string { return []string{WakeSame, WakeOther} }, "whether the two threads have one CPU, or one each; as the end is bound unless given"),
	word("busy", func(p *Params) *string { return &p.Busy }, func(Kind) []string { return []string{WakeAwake, WakeLoaded} }, "what else runs on those CPUs: a loop of idle priority, or of ordinary; nothing unless given"),
	word("explain", func(p *Params) *string { return &p.Explain }, func(Kind) []string { return ExplainWays() }, "what tells where the time of some round trips goes; they are not watched unless given"),
}

// message is the largest message of a kind of test.
func (k Kind) message() int { return k.MaxSize }

func limit(n int) func(Kind) int { return func(Kind) int { return n } }

// loadsBeside are the streams that can flow beside a kind of test: those of
// the other protocol, since both have the same port number.
func loadsBeside(k Kind) []string {
	return slices.DeleteFunc(Loads(), func(name string) bool {
		l, _ := KindOf(name)
		return l.Protocol == k.Protocol
	})
}

// size is the row of a number of bytes.
func size(name string, field func(*Params) *int, most func(Kind) int, about string) param {
	return integer(name, "BYTES", field, 1, most, "bytes", unit.ParseSize, unit.FormatSize, about+" in bytes")
}

// number is the row of a plain number.
func number(name string, field func(*Params) *int, least, most int, about string) param {
	return integer(name, "N", field, least, limit(most), "", parseNumber, decimal, about)
}

// bits is the row of a number of bits per second.
func bits(name string, field func(*Params) *int, about string) param {
	return integer(name, "BITRATE", field, 1, limit(MaxBitRate), "bit/s", parseBits, formatBits, about)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", s)
	}
	return n, nil
}

func parseBits(s string) (int64, error) {
	n, err := unit.ParseBitRate(s)
	if err == nil && n > MaxBitRate {
		err = fmt.Errorf("%d bit/s is out of range: 1 to %d bit/s", n, int64(MaxBitRate))
	}
	return int64(min(n, MaxBitRate)), err
}

// formatBits writes a rate exactly, in the largest unit of which it is a whole
// multiple.
func formatBits(n int64) string {
	for _, u := range []struct {
		worth int64
		name  string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if n%u.worth == 0 {
			return decimal(n/u.worth) + u.name
		}
	}
	return decimal(n) + "bit/s"
}

func integer(name, form string, field func(*Params) *int, least int, most func(Kind) int, base string,
	parse func(string) (int64, error), format func(int64) string, about string) param {
	check := func(n int64, k Kind) error {
		if n < int64(least) || n > int64(most(k)) {
			return fmt.Errorf("test %s: %s", k.Name, strings.TrimSpace(fmt.Sprintf("%s %d is out of range: %d to %d %s", name, n, least, most(k), base)))
		}
		return nil
	}
	return param{
		name: name, form: form, about: about,
		get: func(p *Params) string {
			if *field(p) == 0 {
				return ""
			}
			return format(int64(*field(p)))
		},
		set: func(p *Params, k Kind, value string) error {
			n, err := parse(value)
			if err != nil {
				return fmt.Errorf("test %s: %s: %w", k.Name, name, err)
			}
			if err := check(n, k); err != nil {
				return err
			}
			*field(p) = int(n)
			return nil
		},
		check: func(p *Params, k Kind) error { return check(int64(*field(p)), k) },
	}
}

// rate is messages per second, or bits if a unit says so.
var rate = param{
	name: "rate", form: "N|BITRATE", about: "messages or bits per second of an open loop",
	get: func(p *Params) string {
		switch {
		case p.Rate != 0:
			return decimal(int64(p.Rate))
		case p.BitRate != 0:
			return formatBits(int64(p.BitRate))
		}
		return ""
	},
	set: func(p *Params, k Kind, value string) error {
		n, err := parseNumber(strings.TrimSuffix(value, "/s"))
		if err == nil {
			if n < 1 || n > MaxRate {
				return fmt.Errorf("test %s: rate %d is out of range: 1 to %d messages/s", k.Name, n, MaxRate)
			}
			p.Rate = int(n)
			return nil
		}
		if n, err = parseBits(value); err != nil {
			return fmt.Errorf("test %s: rate %q is neither messages per second, as in 1000, nor bits, as in 100Mbit/s: %w", k.Name, value, err)
		}
		if n < 1 {
			return fmt.Errorf("test %s: rate %q is none", k.Name, value)
		}
		p.BitRate = int(n)
		return nil
	},
	check: func(p *Params, k Kind) error {
		switch {
		case p.Rate != 0 && p.BitRate != 0:
			return fmt.Errorf("test %s: a rate is of messages or of bits, not of both", k.Name)
		case p.Rate < 0 || p.Rate > MaxRate:
			return fmt.Errorf("test %s: rate %d is out of range: 1 to %d messages/s", k.Name, p.Rate, MaxRate)
		case p.BitRate < 0 || p.BitRate > MaxBitRate:
			return fmt.Errorf("test %s: rate %d is out of range: 1 to %d bit/s", k.Name, p.BitRate, int64(MaxBitRate))
		}
		return nil
	},
}

// word is the row of one of several words.
func word(name string, field func(*Params) *string, values func(Kind) []string, about string) param {
	check := func(p *Params, k Kind) error {
		if valid := values(k); !slices.Contains(valid, *field(p)) {
			return fmt.Errorf("test %s: %s %q is none: valid are %s", k.Name, name, *field(p), strings.Join(valid, ", "))
		}
		return nil
	}
	p := plain(name, "NAME", field, check, about)
	p.values = values
	return p
}

// text is the row of any text without blanks, commas and control characters,
// which end a parameter.
func text(name string, field func(*Params) *string, form string, most int, about string) param {
	check := func(p *Params, k Kind) error {
		v := *field(p)
		if v == "" || len(v) > most {
			return fmt.Errorf("test %s: %s has %d bytes: 1 to %d are allowed", k.Name, name, len(v), most)
		}
		if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r == ',' || r > '~' }) {
			return fmt.Errorf("test %s: %s %q: blanks, commas and what is not ASCII can't be in it", k.Name, name, v)
		}
		return nil
	}
	return plain(name, form, field, check, about)
}

func onOff(name string, field func(*Params) *Switch, about string) param {
	check := func(p *Params, k Kind) error {
		if v := *field(p); v != On && v != Off {
			return fmt.Errorf("test %s: %s %q is none: valid are on, off", k.Name, name, v)
		}
		return nil
	}
	return plain(name, "on|off", field, check, about)
}

func plain[T ~string](name, form string, field func(*Params) *T, check func(*Params, Kind) error, about string) param {
	return param{
		name: name, form: form, about: about,
		get: func(p *Params) string { return string(*field(p)) },
		set: func(p *Params, k Kind, value string) error {
			*field(p) = T(value)
			return check(p, k)
		},
		check: check,
	}
}

// Param describes a parameter of a test: NAME=Form. Default is empty where it
// is the kernel's, or nothing.
type Param struct{ Name, Form, About, Default string }

// Params returns the parameters that the kind of test takes.
func (k Kind) Params() []Param {
	var of []Param
	for _, p := range params {
		if slices.Contains(k.Accepts, p.name) {
			form := p.form
			if p.values != nil && p.name != "send" && p.name != "recv" { // those are tables of their own
				form = strings.Join(p.values(k), "|")
			}
			of = append(of, Param{p.name, form, p.about, k.defaultOf(p)})
		}
	}
	return of
}

// defaultOf is what a test has where the parameter is not given.
func (k Kind) defaultOf(p param) string {
	if v := p.get(&k.Default); v != "" {
		return v
	}
	switch p.name {
	case "flows", "threads", "burst":
		return "1"
	case "send":
		return sendMethods[0].Name
	case "recv":
		return recvMethods[0].Name
	case "wait":
		return waits[0]
	case "catchup":
		return string(Off)
	case "nodelay":
		return k.noDelay()
	}
	return ""
}

// noDelay is what TCP_NODELAY is unless given.
func (k Kind) noDelay() string {
	if k.IsStream() {
		return string(Off)
	}
	return string(On)
}

func paramOf(name string) (param, bool) {
	i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
	if i < 0 {
		return param{}, false
	}
	return params[i], true
}
