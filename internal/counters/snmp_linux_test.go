package counters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNet has a kernel with those files of a network namespace.
func fakeNet(t *testing.T, files map[string]string) *Options {
	t.Helper()
	o := &Options{root: t.TempDir()}
	dir := filepath.Join(o.root, "proc/thread-self/net")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestSNMPNames(t *testing.T) {
	o := fakeNet(t, map[string]string{
		"snmp": "Ip: Forwarding InReceives\nIp: 2 10\nIcmpMsg: InType8\nIcmpMsg: 3\nTcp: MaxConn CurrEstab RetransSegs\nTcp: -1 4 5\n" +
			"Udp: InDatagrams RcvbufErrors\nUdp: 6 18446744073709551615\n",
		"netstat": "TcpExt: TCPTimeouts\nTcpExt: 7\nIpExt: InCEPkts\nIpExt: 8\n",
		"snmp6":   "ifIndex\t1\nIp6InDiscards                   \t9\nUdp6RcvbufErrors\t11\nIcmp6InType134\t12\nUdpLite6InErrors\t13\n",
	})
	s, err := openSNMP(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	x := sampleOf(t, s)
	counts := map[string]int64{
		"Ip.InReceives": 10, "IcmpMsg.InType8": 3, "Tcp.RetransSegs": 5, "Udp.InDatagrams": 6, "TcpExt.TCPTimeouts": 7, "IpExt.InCEPkts": 8,
		"Ip6.InDiscards": 9, "Udp6.RcvbufErrors": 11, "Icmp6.InType134": 12, "UdpLite6.InErrors": 13,
	}
	levels := map[string]int64{"Ip.Forwarding": 2, "Tcp.MaxConn": -1, "Tcp.CurrEstab": 4}
	wantValues(t, "counts", x.counts, counts)
	wantValues(t, "levels", x.levels, levels)
}

// Files that are missing are left out, unless all are.
func TestSNMPWithoutFiles(t *testing.T) {
	s, err := openSNMP(fakeNet(t, map[string]string{"snmp": "Udp: InDatagrams\nUdp: 6\n"}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	wantValues(t, "counts", sampleOf(t, s).counts, map[string]int64{"Udp.InDatagrams": 6})
	if _, err := openSNMP(fakeNet(t, nil)); err == nil || !strings.Contains(err.Error(), "snmp") {
		t.Errorf("without any file: %v", err)
	}
}

func TestSNMPBad(t *testing.T) {
	for name, text := range map[string]string{
		"names alone": "Ip: A B\n",
		"too few":     "Ip: A B\nIp: 1\n",
		"another":     "Ip: A\nUdp: 1\n",
		"no number":   "Ip: A\nIp: x\n",
	} {
		if err := parseSNMP([]byte(text), newSample()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := parseSNMP6([]byte("Udp6A x\n"), newSample()); err == nil {
		t.Error("snmp6 without a number: no error")
	}
}
