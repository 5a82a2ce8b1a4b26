package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// peer is another tool's row. ADDR in a command stands for the server's
// address, TIME for the length of a run in seconds.
type peer struct {
	name   string
	server []string
	client []string
	port   uint16 // where the server listens, TCP or UDP
	udp    bool
	// flag is one that the client must know; "" for none.
	flag  string
	parse func(out []byte) (figures, error)
}

func qperf(test string, more ...string) tool {
	return peer{name: "qperf " + test, server: []string{"qperf"}, port: 19765,
		client: append(append([]string{"qperf", "-t", "TIME"}, more...), "ADDR", test), parse: parseQperf}.tool()
}

func netperf(test string) tool {
	return peer{name: "netperf " + test, server: []string{"netserver", "-D"}, port: 12865,
		client: []string{"netperf", "-P", "0", "-v", "0", "-H", "ADDR", "-l", "TIME", "-t", test},
		parse:  parseNetperf(strings.HasSuffix(test, "_STREAM"))}.tool()
}

func sockperf(more ...string) tool {
	name := "sockperf UDP"
	if len(more) > 0 {
		name = "sockperf TCP"
	}
	return peer{name: name, server: append([]string{"sockperf", "server", "-i", "ADDR"}, more...), port: 11111, udp: len(more) == 0,
		client: append([]string{"sockperf", "ping-pong", "-i", "ADDR", "-m", "14", "-t", "TIME"}, more...), parse: parseSockperf}.tool()
}

func iperf3(name string, more ...string) tool {
	return peer{name: strings.TrimSpace("iperf3 " + name), server: []string{"iperf3", "-s", "-B", "ADDR"}, port: 5201, flag: name,
		client: append([]string{"iperf3", "-c", "ADDR", "-t", "TIME", "-J"}, more...), parse: parseIperf3}.tool()
}

func neper(program string, f figure, more ...string) tool {
	return peer{name: "neper " + program, server: append([]string{program, "-l", "TIME"}, more...), port: 12866,
		client: append([]string{program, "-c", "-H", "ADDR", "-l", "TIME"}, more...), parse: parseNeper(f)}.tool()
}

func (r peer) tool() tool { return tool{name: r.name, missing: r.missing, run: r.run} }

// missing says why the tool is not there, or does not know the flag.
func (r peer) missing() error {
	for _, program := range []string{r.client[0], r.server[0], "taskset"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	if r.flag == "" {
		return nil
	}
	help, _ := exec.Command(r.client[0], "--help").CombinedOutput() // some end with an error all the same
	if !strings.Contains(string(help), r.flag) {
		return fmt.Errorf("this %s has no %s", r.client[0], r.flag)
	}
	return nil
}

// filled is a command with the place's address and time.
func (p place) filled(command []string) []string {
	filled := make([]string, len(command))
	for i, w := range command {
		switch w {
		case "ADDR":
			w = p.link.AddrB().String()
		case "TIME":
			w = strconv.Itoa(int(p.length.Seconds()))
		}
		filled[i] = w
	}
	return filled
}
