package counters

import (
	"path/filepath"
	"strings"
)

// sysctls are the settings of /proc/sys that bear on figures; those of the
// network are the thread's namespace's. A star stands for all that there are.
var sysctls = []string{
	"net.core.rmem_default", "net.core.rmem_max", "net.core.wmem_default", "net.core.wmem_max", "net.core.optmem_max",
	"net.core.netdev_max_backlog", "net.core.netdev_budget", "net.core.netdev_budget_usecs", "net.core.dev_weight", "net.core.gro_normal_batch",
	"net.core.busy_poll", "net.core.busy_read", "net.core.default_qdisc", "net.core.rps_sock_flow_entries", "net.core.bpf_jit_enable",
	"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem", "net.ipv4.udp_mem", "net.ipv4.udp_rmem_min", "net.ipv4.udp_wmem_min",
	"net.ipv4.tcp_timestamps", "net.ipv4.tcp_sack", "net.ipv4.tcp_dsack", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_adv_win_scale", "net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_autocorking", "net.ipv4.tcp_tso_win_divisor", "net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_ecn", "net.ipv4.tcp_fastopen",
	"net.ipv4.tcp_recovery", "net.ipv4.tcp_reordering", "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_early_demux", "net.ipv4.udp_early_demux",
	"net.ipv4.tcp_low_latency", "net.ipv4.tcp_backlog_ack_defer", "net.ipv4.tcp_comp_sack_delay_ns", "net.ipv4.tcp_pacing_ss_ratio", "net.ipv4.tcp_pacing_ca_ratio",
	"net.ipv4.ip_forward", "net.ipv4.ip_local_port_range", "net.ipv4.ping_group_range", "net.ipv4.icmp_ratelimit", "net.ipv4.icmp_msgs_per_sec",
	"net.bridge.bridge-nf-call-iptables",
	"kernel.sched_*", "kernel.timer_migration", "kernel.perf_event_paranoid", "kernel.unprivileged_bpf_disabled", "kernel.watchdog", "kernel.nmi_watchdog",
}

// sysctlFacts are settings by their own names.
func sysctlFacts(root string) []Fact {
	const dir = "proc/sys"
	var all []Fact
	for _, name := range sysctls {
		found, err := filepath.Glob(filepath.Join(root, dir, strings.ReplaceAll(name, ".", "/")))
		if err != nil {
			continue
		}
		for _, path := range found {
			key, err := filepath.Rel(filepath.Join(root, dir), path)
			if err != nil {
				continue
			}
			all = append(all, Fact{Name: strings.ReplaceAll(key, "/", "."), Value: strings.Join(strings.Fields(line(path, "")), " ")})
		}
	}
	return valued(all...)
}
