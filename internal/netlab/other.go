//go:build !linux

package netlab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"

	"netdelta/internal/feature"
	"netdelta/internal/sys"
)

// Lab is two hosts and a link; elsewhere than on Linux there are none.
type Lab struct{ A, B *Host }

// Host is one of a lab's two hosts.
type Host struct {
	Name   string
	NS     *sys.NetNS
	Device string
	Group  *os.File
}

// Link is a link between a lab's hosts.
type Link struct{}

// New reports that labs need Linux.
func New() (*Lab, error) { return nil, fmt.Errorf("make a lab: %w", feature.NetNS.Err()) }

// NeedUserNS is false: there are no user namespaces that would help.
func NeedUserNS() bool { return false }

// Close does nothing.
func (l *Lab) Close() error { return nil }

// Classify reports that control groups need Linux.
func (l *Lab) Classify() error { return feature.SocketGroup.Err() }

// Connect reports that links need Linux.
func (l *Lab) Connect(_ context.Context, c LinkConfig) (*Link, error) { return nil, Check(c) }

// AddrA is the zero Addr, as is every address here.
func (k *Link) AddrA() netip.Addr { return netip.Addr{} }

// AddrB is the zero Addr.
func (k *Link) AddrB() netip.Addr { return netip.Addr{} }

// Addr6A is the zero Addr.
func (k *Link) Addr6A() netip.Addr { return netip.Addr{} }

// Addr6B is the zero Addr.
func (k *Link) Addr6B() netip.Addr { return netip.Addr{} }

// Config is the zero LinkConfig.
func (k *Link) Config() LinkConfig { return LinkConfig{} }

// Counts reads nothing.
func (k *Link) Counts() (map[string]int64, error) { return nil, nil }

// Err is nil.
func (k *Link) Err() error { return nil }

// Warnings are none.
func (k *Link) Warnings() []string { return nil }

// Close does nothing.
func (k *Link) Close() error { return nil }

// Awake keeps CPUs awake, on Linux.
type Awake struct{}

// KeepAwake reports that this needs Linux.
func KeepAwake([]int) (*Awake, error) {
	return nil, fmt.Errorf("keep the CPUs awake: it needs Linux, this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Close does nothing.
func (*Awake) Close() error { return nil }

// AwakeMain reports that there is nothing to keep awake.
func AwakeMain([]string) int { return 1 }
