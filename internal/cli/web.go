package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"netdelta/internal/compare"
	"netdelta/internal/web"
)

// webFlags hold what the command line gives.
type webFlags struct {
	store, listen, margin string
	write, anyHost        bool
}

func newWeb() *cobra.Command {
	var f webFlags
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Show the runs that are kept in a browser",
		Long: `Serves pages of the store's runs: lists, reports of runs and comparisons, and how
a figure went over runs and kernels. It is bound to this machine's loopback and
read only unless told otherwise, and has no users or passwords: whoever reaches
the port sees all runs. Ends with Ctrl-C.`,
		Example: `  netdelta web
  netdelta web --listen 127.0.0.1:8080 --store lab.db`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 {
				return usageError("web takes no argument, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveWeb(cmd.Context(), &f, cmd.OutOrStdout())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.store, "store", "", storeHelp)
	fl.StringVar(&f.listen, "listen", "127.0.0.1:7180", "address and port to serve at; port 0 takes a free one")
	fl.StringVar(&f.margin, "margin", "2%", "smallest change that matters, in comparisons")
	fl.BoolVar(&f.write, "write", false, "let the pages change labels and baselines")
	fl.BoolVar(&f.anyHost, "any-host", false, "serve other machines too: needed for an address that is not loopback")
	return cmd
}

func (f *webFlags) check() (netip.AddrPort, float64, error) {
	at, err := netip.ParseAddrPort(f.listen)
	if err != nil {
		return at, 0, usageError("--listen %q: it is no address with a port, as in 127.0.0.1:7180", f.listen)
	}
	if !at.Addr().IsLoopback() && !f.anyHost {
		return at, 0, usageError("--listen %v is no loopback address, and whoever reaches it sees all runs: give --any-host if that is meant", at)
	}
	share, err := parsePercent(f.margin)
	if err != nil {
		return at, 0, usageError("--margin: %w", err)
	}
	return at, share, nil
}

func serveWeb(ctx context.Context, f *webFlags, stdout io.Writer) error {
	at, margin, err := f.check()
	if err != nil {
		return err
	}
	s, err := openKept(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.String())
	if err != nil {
		return &exitError{ExitUnmeasured, fmt.Errorf("serve at %v: %w: another port can be given with --listen", at, err)}
	}
	server := http.Server{
		Handler: web.New(web.Options{
			Store: s, Version: versionString(), AnyHost: f.anyHost, Write: f.write,
			Document: documentOfKept,
			Compare: func(old, new []compare.Kept) (*compare.Document, error) {
				rep, err := compare.Runs(old, new, compare.RunsOptions{Margin: margin, Version: versionString()})
				return &compare.Document{Report: &rep, Kept: append(old, new...)}, err
			},
		}),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	if _, err := fmt.Fprintf(stdout, "http://%v/ shows what is kept in %s; Ctrl-C ends it\n", l.Addr(), s.Path()); err != nil {
		l.Close()
		return err
	}
	done := context.AfterFunc(ctx, func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	defer done()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return &exitError{ExitUnmeasured, fmt.Errorf("serve at %v: %w", at, err)}
	}
	return nil
}
