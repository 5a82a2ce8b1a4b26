package counters

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// snmpLevels are what does not only rise among the kernel's counters: what
// stands now, and settings.
var snmpLevels = map[string]bool{
	"Ip.Forwarding": true, "Ip.DefaultTTL": true,
	"Tcp.RtoAlgorithm": true, "Tcp.RtoMin": true, "Tcp.RtoMax": true, "Tcp.MaxConn": true,
	"Tcp.CurrEstab": true, "MPTcpExt.MPCurrEstab": true,
}

// snmpFiles are where the kernel tells the counters of IP, ICMP, UDP and TCP of
// a network namespace (proc_net(5)). A thread's are those of the one that it is
// in, which need not be its process's.
var snmpFiles = []struct {
	name  string
	parse func([]byte, *sample) error
}{
	{"proc/thread-self/net/snmp", parseSNMP},
	{"proc/thread-self/net/netstat", parseSNMP},
	{"proc/thread-self/net/snmp6", parseSNMP6},
}

// snmpSource is several of the files, each of which may be missing: the last
// one is where there is no IPv6. Names are "Udp.RcvbufErrors", that is the
// protocol and the name that the file has.
type snmpSource struct{ files []source }

func openSNMP(o *Options) (source, error) {
	s := &snmpSource{}
	var missing []error
	for _, f := range snmpFiles {
		one, err := openFile(o, f.name, f.parse)
		if err != nil {
			missing = append(missing, err)
			continue
		}
		s.files = append(s.files, one)
	}
	if len(s.files) == 0 {
		return nil, missing[0]
	}
	return s, nil
}

func (s *snmpSource) take() (*sample, error) {
	var parts []*sample
	for _, f := range s.files {
		x, err := f.take()
		if err != nil {
			return nil, err
		}
		parts = append(parts, x)
	}
	return &sample{parse: func(x *sample) error {
		for _, p := range parts {
			part := sample{counts: x.counts, levels: x.levels}
			if err := p.parse(&part); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func (s *snmpSource) close() error {
	var all error
	for _, f := range s.files {
		all = errors.Join(all, f.close())
	}
	return all
}

// parseSNMP reads pairs of lines, of names and of values, each with the
// protocol before it.
func parseSNMP(text []byte, s *sample) error {
	var names [][]byte
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		switch {
		case len(f) == 0:
		case names == nil:
			names = f
		case !bytes.Equal(f[0], names[0]) || len(f) != len(names):
			return fmt.Errorf("%s has %d names and %s %d values", names[0], len(names)-1, f[0], len(f)-1)
		default:
			protocol := strings.TrimSuffix(string(f[0]), ":")
			for i, v := range f[1:] {
				if err := s.snmp(protocol+"."+string(names[1+i]), v); err != nil {
					return err
				}
			}
			names = nil
		}
	}
	if names != nil {
		return fmt.Errorf("%s has names and no values", names[0])
	}
	return nil
}

// parseSNMP6 reads lines of a name and a value. The protocol is what the name
// begins with, up to the 6.
func parseSNMP6(text []byte, s *sample) error {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) != 2 {
			continue
		}
		protocol, name, ok := strings.Cut(string(f[0]), "6")
		if !ok {
			continue // the interface's number, in the files of single interfaces
		}
		if err := s.snmp(protocol+"6."+name, f[1]); err != nil {
			return err
		}
	}
	return nil
}

// snmp notes a value. One that is too large to be true on any path is a small
// negative number, as of an error of the kernel's, and is left out.
func (s *sample) snmp(name string, value []byte) error {
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil
	case err != nil:
		return fmt.Errorf("%s is %q", name, value)
	case snmpLevels[name]:
		s.levels[name] = n
	default:
		s.counts[name] = n
	}
	return nil
}
