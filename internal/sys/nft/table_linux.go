package nft

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// Name is that of the table and of its first chain, which sees what has arrived for
// this host; seen is the chain with the counters.
const (
	Name = "netdelta"
	seen = "seen"
)

// family is of a table for IPv4 and IPv6 (NFPROTO_INET).
const family = unix.NFPROTO_INET

// Table is a table of one network namespace that counts the TCP and UDP packets
// that arrive on one interface, and those of them that are for a socket of one
// control group. It decides nothing: all packets pass.
type Table struct {
	mu     sync.Mutex // held while the socket is used
	conn   *conn
	device string
}

// Counts are what a Table has counted since it was made, in packets as the network
// layer sees them: segments that GRO merged are one.
type Counts struct {
	All   int64
	Group int64 // of those, the ones for a socket of the group
}

// Count makes the table in the namespace, and reads it back. It needs CAP_NET_ADMIN
// there, and a kernel with CONFIG_NF_TABLES, CONFIG_NF_TABLES_INET and CONFIG_NFT_SOCKET
// that knows control groups (Linux 5.13). The interface need not be there yet. The
// table goes with the namespace, or by Close.
//
// A packet is the group's if its socket was made in it, or came by accept(2) from one
// that was, whatever process runs when it is handled. A packet without a whole socket is
// nobody's (nft_socket_eval in net/netfilter/nft_socket.c): one for a port that nobody
// has, the last of the three that open a TCP connection at the end that accepts it, and
// what comes in the state TIME-WAIT.
func Count(ns *sys.NetNS, device string, g sys.Group) (*Table, error) {
	id, err := g.ID()
	if err != nil {
		return nil, err
	}
	c, err := dial(ns)
	if err != nil {
		return nil, err
	}
	chains := []chain{
		{Name, hooked, []rule{arrived(device, unix.IPPROTO_UDP, seen), arrived(device, unix.IPPROTO_TCP, seen)}},
		{seen, nil, []rule{{counter}, matching(g.Level, id)}},
	}
	t := &Table{conn: c, device: device}
	if err := t.make(chains); err != nil {
		return nil, errors.Join(fmt.Errorf("count packets on %s for control group %s (nf_tables: socket cgroupv2 level %d): %w",
			device, g.Dir, g.Level, err), c.close())
	}
	return t, nil
}

// chain is a list of rules; attrs are what it has beside its name.
type chain struct {
	name  string
	attrs []attr
	rules []rule
}

// hooked is "type filter hook input priority filter; policy accept;".
var hooked = []attr{
	nest(unix.NFTA_CHAIN_HOOK, number(unix.NFTA_HOOK_HOOKNUM, unix.NF_INET_LOCAL_IN), number(unix.NFTA_HOOK_PRIORITY, 0)),
	text(unix.NFTA_CHAIN_TYPE, "filter"),
	number(unix.NFTA_CHAIN_POLICY, acceptVerdict),
}

// acceptVerdict is NF_ACCEPT of linux/netfilter.h.
const acceptVerdict = 1

// make makes the table as a whole or not at all.
func (t *Table) make(chains []chain) error {
	all := []message{{kind: of(unix.NFT_MSG_NEWTABLE), flags: unix.NLM_F_CREATE | unix.NLM_F_EXCL, family: family, what: "the table", attrs: []attr{tableName()}}}
	for _, c := range chains {
		all = append(all, message{kind: of(unix.NFT_MSG_NEWCHAIN), flags: unix.NLM_F_CREATE, family: family, what: "chain " + c.name,
			attrs: append([]attr{text(unix.NFTA_CHAIN_TABLE, Name), text(unix.NFTA_CHAIN_NAME, c.name)}, c.attrs...)})
	}
	for _, c := range chains {
		for i, r := range c.rules {
			all = append(all, message{kind: of(unix.NFT_MSG_NEWRULE), flags: unix.NLM_F_CREATE | unix.NLM_F_APPEND, family: family,
				what:  fmt.Sprintf("rule %d of chain %s", i+1, c.name),
				attrs: []attr{text(unix.NFTA_RULE_TABLE, Name), text(unix.NFTA_RULE_CHAIN, c.name), r.encoded()}})
		}
	}
	if err := t.conn.change(all...); err != nil {
		return err
	}
	if err := t.verify(chains); err != nil {
		return errors.Join(err, t.remove())
	}
	return nil
}

func tableName() attr { return text(unix.NFTA_TABLE_NAME, Name) }

// verify reads back what was made.
func (t *Table) verify(chains []chain) error {
	for _, c := range chains {
		same := false
		err := t.conn.ask(message{kind: of(unix.NFT_MSG_GETCHAIN), family: family,
			attrs: []attr{text(unix.NFTA_CHAIN_TABLE, Name), text(unix.NFTA_CHAIN_NAME, c.name)},
		}, func(has []attr) { same = holds(has, c.attrs) })
		if err != nil {
			return fmt.Errorf("read chain %s back: %w", c.name, err)
		}
		rules, err := t.rules(c.name)
		if err != nil {
			return fmt.Errorf("read the rules of chain %s back: %w", c.name, err)
		}
		if !same || !slices.EqualFunc(rules, c.rules, rule.is) {
			return fmt.Errorf("chain %s is not as was asked for: the kernel ignored some of it", c.name)
		}
	}
	return nil
}

// rules are those of a chain.
func (t *Table) rules(chain string) ([]rule, error) {
	var all []rule
	var odd error
	err := t.conn.ask(message{kind: of(unix.NFT_MSG_GETRULE), flags: unix.NLM_F_DUMP, family: family,
		attrs: []attr{text(unix.NFTA_RULE_TABLE, Name), text(unix.NFTA_RULE_CHAIN, chain)},
	}, func(has []attr) {
		r, err := ruleIn(has)
		odd = errors.Join(odd, err)
		all = append(all, r)
	})
	return all, errors.Join(err, odd)
}

// Read reads the counters.
func (t *Table) Read() (Counts, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rules, err := t.rules(seen)
	if err != nil {
		return Counts{}, fmt.Errorf("read what nf_tables counted on %s: %w", t.device, err)
	}
	var n []int64
	for _, r := range rules {
		if packets, ok := r.packets(); ok {
			n = append(n, packets)
		}
	}
	if len(n) != 2 {
		return Counts{}, fmt.Errorf("read what nf_tables counted on %s: table %s has %d counters and not 2: something else has changed it", t.device, Name, len(n))
	}
	return Counts{All: n[0], Group: n[1]}, nil
}

// Close removes the table. After it there is nothing to read.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.remove()
	if err != nil {
		err = fmt.Errorf("remove the nf_tables table %s: %w", Name, err)
	}
	return errors.Join(err, t.conn.close())
}

func (t *Table) remove() error {
	return t.conn.change(message{kind: of(unix.NFT_MSG_DELTABLE), family: family, what: "an end of the table", attrs: []attr{tableName()}})
}
