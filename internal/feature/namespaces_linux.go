package feature

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"netdelta/internal/sys"
)

// asRoot is the advice for what only a namespace's root may do.
const asRoot = "run as root, or where the system allows user namespaces as their root"

func tryNetNS() *Error {
	ns, err := sys.NewNetNS()
	if err == nil {
		err = ns.Close()
	}
	if err == nil {
		return nil
	}
	e := &Error{
		Tried:  "make a network namespace",
		Need:   "CAP_SYS_ADMIN",
		Advice: asRoot,
		Err:    err,
	}
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		e.Need, e.Advice = "a kernel built with CONFIG_NET_NS", ""
	case errors.Is(err, unix.ENOSPC):
		e.Need, e.Advice = "room for one more network namespace", "raise it: sysctl user.max_net_namespaces"
	}
	return e
}

func tryUserNS() *Error {
	err := sys.TryUserNS()
	if err == nil {
		return nil
	}
	need, advice := userNSHint(err, readSysctl)
	return &Error{
		Tried:  "clone a child into a user namespace, with namespaces that its root owns",
		Need:   need,
		Advice: advice,
		Err:    err,
	}
}

// userNSHint finds what forbids user namespaces: distributions have switches
// of their own beside the kernel's limit.
func userNSHint(err error, sysctl func(name string) string) (need, advice string) {
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return "a kernel built with CONFIG_USER_NS", "run as root"
	case sysctl("kernel.unprivileged_userns_clone") == "0":
		return "kernel.unprivileged_userns_clone=1, it is 0", "run as root, or sysctl -w kernel.unprivileged_userns_clone=1"
	case sysctl("user.max_user_namespaces") == "0":
		return "user.max_user_namespaces above 0, it is 0", "run as root, or sysctl -w user.max_user_namespaces=1000"
	case errors.Is(err, unix.ENOSPC):
		return "room for one more user namespace", "raise user.max_user_namespaces; namespaces can be nested 32 deep at most"
	case sysctl("kernel.apparmor_restrict_unprivileged_userns") == "1":
		return "leave of AppArmor, which restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
			"run as root, or give the binary an AppArmor profile with the userns rule, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	}
	return "leave to make user namespaces: a security module, a chroot or, if this is a container, its seccomp filter withholds it",
		"run as root; if this is a container, outside of it"
}

// readSysctl is the setting's value, empty where the kernel has none such.
func readSysctl(name string) string {
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// inNewNetNS runs fn on a thread in a network namespace that is gone
// afterwards, with all that fn makes in it.
func inNewNetNS(fn func(*sys.NetNS) error) error {
	ns, err := sys.NewNetNS()
	if err != nil {
		return err
	}
	return errors.Join(ns.Do(func() error { return fn(ns) }), ns.Close())
}
