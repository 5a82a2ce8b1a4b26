package iperf

import (
	"regexp"
	"strings"
)

var (
	// heads are lines that belong to an output and have no figure.
	heads    = regexp.MustCompile(`^\s*(\[ *ID *\]|- -|-{20,}|Connecting to host|Reverse mode|iperf Done|Client connecting to|Server listening|Server output:|TCP window size|UDP buffer size|(Sending|Receiving) [0-9]+ byte|Accepted connection|Starting Test|Time: |Cookie:|TCP MSS|Test Complete|CPU Utilization|(snd|rcv)_tcp_congestion|Control connection MSS|\[ *\*?[0-9]+ *\] (local|Sent|WARNING|Server Report)|Linux \S+ [0-9]|iperf [0-9]+\.|Iperf Done)`)
	dashes   = regexp.MustCompile(`^\s*-{20,}\s*$`)
	rules    = regexp.MustCompile(`^\s*- - - `)
	command  = regexp.MustCompile(`^\s*\S*.*?\b(iperf3?)\s+(-[A-Za-z-].*)$`)
	errors3  = regexp.MustCompile(`iperf3: (error|interrupt)|connect failed:|write failed:|read failed:`)
	peers    = regexp.MustCompile(`(?:Connecting to host|Client connecting to|connected (?:to|with)) ([^ ,]+)`)
	locals   = regexp.MustCompile(`^\s*\[ *(\*?[0-9]+) *\] local .* connected (to|with)`)
	sent     = regexp.MustCompile(`Sent [0-9]+ datagrams`)
	banners  = regexp.MustCompile(`^\s*iperf 3\.`)
	congests = regexp.MustCompile(`^\s*snd_tcp_congestion (\S+)`)
	cpus     = regexp.MustCompile(`^\s*CPU Utilization: (local|remote)/(sender|receiver) ([0-9.]+)% .*, (?:local|remote)/(?:sender|receiver) ([0-9.]+)% `)
)

// patience is how many rows an output may have before a line of something else ends
// it, total or none; without a bound a file's time would grow with its square.
const patience = 200

// texts reads the outputs that are text, one after another.
func (r *reader) texts() {
	var o output
	for _, l := range r.f.Lines {
		if r.inside[l.No] {
			r.end(&o) // a command's output is JSON: what follows is another's
			o = output{}
			continue
		}
		text := l.Text
		x, isRow := rowOf(l)
		cmd := command.FindStringSubmatch(text)
		if isRow || errors3.MatchString(text) {
			cmd = nil
		}
		isHead := heads.MatchString(text) || sent.MatchString(text)
		foreign := !isRow && cmd == nil && !isHead && strings.TrimSpace(text) != "" && !errors3.MatchString(text)
		if next, new := o.next(text, cmd != nil); new {
			r.end(&o)
			o = next
		} else if (foreign || dashes.MatchString(text)) && (o.flagged || len(o.rows) > patience || o.total()) {
			// What follows the totals is not of this output.
			r.end(&o)
			o = output{}
		} else if foreign && o.tool == "" && len(o.rows) == 0 {
			o = output{} // a rule alone was another's
		}
		switch {
		case isRow:
			x.report = o.reported
			o.flagged = o.flagged || x.flagged() || x.report
			o.rows = append(o.rows, x)
		case errors3.MatchString(text):
			o.failed, o.failedAt = strings.TrimSpace(text), l.No
		case cmd != nil:
			o.tool, o.said = cmd[1], true
			o.options = optionsOf(cmd[1], cmd[2])
		case isHead:
			o.head(text, l.No)
		default:
			continue
		}
		if o.first == 0 {
			o.first = l.No
		}
		o.last = l.No
	}
	r.end(&o)
}

// next says that a line is the first of another output, and what is known of that.
func (o *output) next(text string, isCommand bool) (output, bool) {
	begun := len(o.rows) > 0 || o.failed != ""
	t := strings.TrimSpace(text)
	switch {
	case isCommand:
		return output{}, o.first > 0
	case strings.HasPrefix(t, "Connecting to host"), strings.Contains(t, "Client connecting to"), banners.MatchString(t), strings.HasPrefix(t, "Accepted connection"), strings.HasPrefix(t, "Server listening"):
		return output{}, begun
	case strings.HasPrefix(t, "Server output:"):
		return output{}, begun
	case strings.HasPrefix(t, "[ ID"), rules.MatchString(t):
		return output{}, o.flagged && !o.reported && o.tool != "iperf"
	}
	if m := locals.FindStringSubmatch(t); m != nil && m[2] == "with" && begun {
		// The next connection to a server of iperf2, or a client's with -r.
		return output{tool: o.tool, said: o.said, options: options{server: o.server, udp: o.udp, both: o.both, every: o.every, reverse: o.reverse}}, true
	}
	return output{}, false
}

// head takes what a line without a figure says.
func (o *output) head(text string, line int) {
	t := strings.TrimSpace(text)
	if m := peers.FindStringSubmatch(t); m != nil && o.peer == "" {
		o.peer = m[1]
	}
	if m := locals.FindStringSubmatch(t); m != nil {
		if o.connected == nil {
			o.connected = map[string]bool{}
		}
		o.connected[m[1]] = true
	}
	switch {
	case strings.HasPrefix(t, "iperf Done"):
		o.tool = "iperf3"
	case strings.HasPrefix(t, "iperf 3"):
		o.version, o.tool = strings.TrimPrefix(t, "iperf "), "iperf3"
	case strings.HasPrefix(t, "Connecting to host"):
		o.tool, o.said = "iperf3", true
	case strings.HasPrefix(t, "Accepted connection"), strings.HasPrefix(t, "Server output:"):
		o.tool, o.said, o.server = "iperf3", true, true
	case strings.HasPrefix(t, "Client connecting to"):
		o.both = o.both || o.server // -d and -r: the client is a server, too
		o.tool, o.said = "iperf", true
		o.udp = o.udp || strings.Contains(t, "UDP")
	case strings.HasPrefix(t, "Server listening"):
		o.server, o.said = true, true
		if strings.Contains(t, "UDP") || strings.Contains(t, "TCP") {
			o.tool = "iperf"
			o.udp = strings.Contains(t, "UDP")
		}
	case strings.HasPrefix(t, "Reverse mode"):
		o.reverse = true
	case strings.Contains(t, "Server Report"):
		o.reported = true
	case strings.HasPrefix(t, "[ ID"):
		o.title(t, line)
	}
	if m := congests.FindStringSubmatch(t); m != nil {
		o.congestion = m[1]
	}
	if m := cpus.FindStringSubmatch(t); m != nil {
		o.cpu, o.cpuAt = [2]string{m[3], m[4]}, line
	}
}

// title takes what the head of a table says.
func (o *output) title(t string, line int) {
	if strings.Contains(t, "Datagrams") || strings.Contains(t, "Jitter") {
		o.udp = true
	}
	o.rtry = o.rtry || strings.Contains(t, "Rtry")
	if strings.Contains(t, "Bitrate") && o.tool == "" {
		o.tool = "iperf3"
	}
	if len(o.rows) > 0 {
		o.headedAt = line
	}
}
