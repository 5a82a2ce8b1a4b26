package counters

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// filterFacts are what of netfilter is in the way of each packet in the
// thread's network namespace.
func filterFacts(root string) []Fact {
	var all []Fact
	if n, err := strconv.Atoi(line(root, "proc/sys/net/netfilter/nf_conntrack_count")); err == nil {
		v := "loaded"
		if n > 0 {
			v = "in use" // how many there are changes by itself
		}
		all = append(all, Fact{Name: "connection tracking", Value: v})
	}
	for _, t := range []struct{ fact, file string }{
		{"iptables", "ip_tables_names"}, {"ip6tables", "ip6_tables_names"}, {"arptables", "arp_tables_names"},
	} {
		// Of the thread's namespace, which the process may not be in.
		text, err := os.ReadFile(filepath.Join(root, "proc/thread-self/net", t.file))
		if err == nil {
			names := strings.Fields(string(text))
			slices.Sort(names) // in the order of their first use
			all = append(all, Fact{Name: t.fact, Value: strings.Join(names, " ")})
		}
	}
	if live(root) {
		all = append(all, Fact{Name: "nftables", Value: strings.Join(nftTables(), ", ")})
	}
	return valued(all...)
}

// Of linux/netfilter/nf_tables.h.
const (
	nftGetTable  = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETTABLE
	nftTableName = unix.NFTA_TABLE_NAME
)

// families are names of address families as nft(8) writes them.
var families = map[byte]string{
	unix.NFPROTO_INET: "inet", unix.NFPROTO_IPV4: "ip", unix.NFPROTO_ARP: "arp", unix.NFPROTO_NETDEV: "netdev", unix.NFPROTO_BRIDGE: "bridge", unix.NFPROTO_IPV6: "ip6",
}

// nftTables are the tables of nf_tables, as in "inet filter". There are none
// for who has no CAP_NET_ADMIN, and where the kernel has no nf_tables.
func nftTables() []string {
	req := nl.NewNetlinkRequest(nftGetTable, unix.NLM_F_DUMP)
	req.AddData(&nl.Nfgenmsg{NfgenFamily: unix.NFPROTO_UNSPEC, Version: nl.NFNETLINK_V0})
	replies, err := req.Execute(unix.NETLINK_NETFILTER, 0)
	if err != nil {
		return nil
	}
	var all []string
	for _, m := range replies {
		if len(m) < nl.SizeofNfgenmsg {
			continue
		}
		attrs, err := nl.ParseRouteAttr(m[nl.SizeofNfgenmsg:])
		if err != nil {
			continue
		}
		for _, a := range attrs {
			if a.Attr.Type == nftTableName {
				all = append(all, families[m[0]]+" "+unix.ByteSliceToString(a.Value))
			}
		}
	}
	slices.Sort(all)
	return all
}
