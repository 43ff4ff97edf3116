package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/daemon"
	"github.com/lictor-policy/lictor/internal/mcp"
	"github.com/lictor-policy/lictor/internal/sandbox"
)

func newServe(s *streams) *cobra.Command {
	var (
		http   string
		idle   time.Duration
		roots  int
		status bool
		stop   bool
		stats  bool
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Keep warm engines for hooks on a socket of yours",
		Long: `serve answers lictor-hook on a Unix socket that only you can reach, with one warm
engine a project, and sees changed files before the next call. lictor-hook starts
it when it is needed; it ends by itself when nobody calls.

With --http it also answers on loopback: POST /hook/AGENT for agents with http
hooks, and POST /v1/data/lictor/verdict as OPA does, both only with the token from
the file that it names.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case status:
				h, err := daemon.AskHealth("")
				if err != nil {
					return &exitError{code: exitDeny, err: err}
				}
				return writeJSON(s.out, h)
			case stats:
				text, err := daemon.AskMetrics("")
				if err != nil {
					return &exitError{code: exitDeny, err: err}
				}
				_, err = s.out.Write(text)
				return err
			case stop:
				if err := daemon.Stop(""); err != nil {
					return &exitError{code: exitDeny, err: err}
				}
				return nil
			}
			ctx, done := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer done()
			err := daemon.Serve(ctx, daemon.Options{
				Idle: idle, MaxRoots: roots, HTTP: http,
				Notify: func(notice string) { fmt.Fprintln(s.err, "lictor: notice:", notice) },
				Ready: func(socket, address string) {
					fmt.Fprintln(s.out, "socket", socket)
					if address != "" {
						fmt.Fprintln(s.out, "http", address)
					}
				},
			})
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&http, "http", "", "also answer HTTP on this loopback `address` (127.0.0.1:0 for any port)")
	fl.DurationVar(&idle, "idle", 30*time.Minute, "end after this `time` without a call; negative: never")
	fl.IntVar(&roots, "roots", 8, "how many projects' engines are kept")
	fl.BoolVar(&status, "status", false, "ask the daemon how it is, and end")
	fl.BoolVar(&stats, "metrics", false, "print the daemon's metrics for Prometheus, and end")
	fl.BoolVar(&stop, "stop", false, "end the daemon")
	return cmd
}

// askFlags say who answers the questions of a command that decides many calls.
type askFlags struct {
	who   string
	limit time.Duration
}

func (f *askFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.who, "ask", "queue", "`who` answers a question: terminal, queue (lictor approve) or none")
	fl.DurationVar(&f.limit, "ask-limit", 5*time.Minute, "no answer within this `time` is a no")
}

// openFor opens an engine for a command that decides many calls, with the
// approver that --ask names.
func openFor(ctx context.Context, cmd *cobra.Command, s *streams, flags *engineFlags, asked *askFlags, agent string, execute bool) (*lictor.Engine, error) {
	flags.longLived = true
	o, err := flags.options(cmd, s)
	if err != nil {
		return nil, err
	}
	o.Execute = execute
	if o.Approver, err = approver(asked.who, asked.limit, flags.root, agent); err != nil {
		return nil, err
	}
	engine, err := openEngine(ctx, s, o)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return engine, nil
}

func newMCP(s *streams) *cobra.Command {
	var (
		flags engineFlags
		asked askFlags
	)
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Be an MCP server with the tools check, explain and approve_prompt",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			engine, err := openFor(cmd.Context(), cmd, s, &flags, &asked, "mcp", false)
			if err != nil {
				return err
			}
			defer engine.Close()
			if err := mcp.Serve(cmd.Context(), engine, versionText()); err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			return nil
		},
	}
	flags.register(cmd)
	asked.register(cmd)
	return cmd
}

func newMCPProxy(s *streams) *cobra.Command {
	var (
		flags engineFlags
		asked askFlags
		name  string
		plain bool
	)
	cmd := &cobra.Command{
		Use:   "mcp-proxy --server NAME -- COMMAND [ARG...]",
		Short: "Stand before an MCP server and decide each of its tool calls",
		Long: `mcp-proxy starts an MCP server and stands between it and the agent: each tools/call
is decided as mcp__NAME__TOOL, and one that is not allowed never reaches the
server. Tools that a deny rule names are taken out of the list.

The server runs in the OS sandbox, with the project read-only and no network,
unless --no-sandbox says otherwise.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := mcp.CheckServerName(name); err != nil {
				return fail(exitUsage, "--server: %v", err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			engine, err := openFor(ctx, cmd, s, &flags, &asked, "mcp-proxy", !plain)
			if err != nil {
				return err
			}
			defer engine.Close()
			o := mcp.ProxyOptions{Server: name, Command: args, Stdin: s.in, Stdout: s.out, Stderr: s.err}
			if !plain {
				o.Run = func(ctx context.Context, argv []string, in io.Reader, out, errOut io.Writer) error {
					return engine.RunServer(ctx, sandbox.Command{Argv: argv, Stdin: in, Stdout: out, Stderr: errOut})
				}
			}
			if err := mcp.Proxy(ctx, engine, o); err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			return nil
		},
	}
	flags.register(cmd)
	asked.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&name, "server", "", "the server's `name` in rules (mcp__NAME__TOOL)")
	fl.BoolVar(&plain, "no-sandbox", false, "run the server with your rights and environment")
	return cmd
}
