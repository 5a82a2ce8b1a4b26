// Package nft has nf_tables count packets by the control group of the socket that
// they are for, as `socket cgroupv2` of nft(8) does.
package nft
