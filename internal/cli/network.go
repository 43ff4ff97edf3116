package cli

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/netguard"
)

func newNetwork(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "network",
		Short: "Show which hosts sandboxed commands may reach",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := engineFlags{noRecord: true}
	show := &cobra.Command{
		Use:   "show",
		Short: "List the hosts, and where each comes from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			engine, err := flags.open(cmd.Context(), cmd, s)
			if err != nil {
				return err
			}
			defer engine.Close()
			lines := engine.NetworkList()
			if len(lines) == 0 {
				fmt.Fprintln(s.out, "no network: network.allow is empty, or not accepted (`lictor trust show`)")
			}
			for _, l := range lines {
				fmt.Fprintln(s.out, l)
			}
			return nil
		},
	}
	flags.register(show)
	cmd.AddCommand(show)
	return cmd
}

func newProxy(s *streams) *cobra.Command {
	var (
		flags  engineFlags
		listen string
		open   bool
	)
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Run the allowlist proxy alone, on loopback",
		Long: `proxy serves HTTP CONNECT, absolute-form HTTP and SOCKS5 on one loopback port
until it is interrupted, by the rules that sandboxed commands have. It prints the
URL with credentials that clients need, and at the end what it blocked.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := flags.options(cmd, s)
			if err != nil {
				return err
			}
			o.ShortLived = false
			engine, err := openEngine(cmd.Context(), s, o)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			defer engine.Close()
			host, _, err := net.SplitHostPort(listen)
			if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
				return fail(exitUsage, "--listen is a loopback address and a port (127.0.0.1:3128), not %q", listen)
			}
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			credentials := ""
			if !open {
				credentials = netguard.NewCredentials()
			}
			fmt.Fprintln(s.out, netguard.ProxyURL(l.Addr(), credentials))
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			blocked, err := engine.Proxy(ctx, l, credentials)
			for _, b := range blocked {
				fmt.Fprintln(s.err, "lictor:", b)
			}
			if err != nil && ctx.Err() == nil {
				return &exitError{code: exitDeny, err: err}
			}
			return nil
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "the loopback `address` and port")
	cmd.Flags().BoolVar(&open, "no-credentials", false, "let every program on this machine use it")
	return cmd
}
