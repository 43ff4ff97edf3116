package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
	"github.com/lictor-policy/lictor/internal/hook"
)

func newHook(s *streams) *cobra.Command {
	var flags engineFlags
	cmd := &cobra.Command{
		Use:   "hook AGENT",
		Short: "Answer one hook call of an agent, in that agent's JSON",
		Long: `hook reads one hook event of an agent on standard input and answers in that
agent's contract. Whatever goes wrong, the answer is a refusal.

Agents: ` + strings.Join(hook.Names(), ", "),
		Args:      cobra.ExactArgs(1),
		ValidArgs: hook.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			dialect, err := hook.Find(args[0])
			if err != nil {
				// Exit code 2 is the one that agents read as a refusal.
				return &exitError{code: exitAsk, err: err}
			}
			return reply(s, runHook(cmd, s, &flags, dialect))
		},
	}
	flags.register(cmd)
	return cmd
}

// runHook decides one event. A panic anywhere below is a refusal in the
// agent's own words.
func runHook(cmd *cobra.Command, s *streams, flags *engineFlags, dialect hook.Dialect) (r hook.Reply) {
	defer func() {
		if p := recover(); p != nil {
			r = dialect.Block(fmt.Sprintf("lictor: internal error: %v", p))
		}
	}()
	data, err := io.ReadAll(io.LimitReader(s.in, maxCall+1))
	if err != nil {
		return dialect.Block("lictor: reading the hook's input: " + err.Error())
	}
	if len(data) > maxCall {
		return dialect.Block(fmt.Sprintf("lictor: the hook's input is longer than %d bytes", maxCall))
	}
	event, err := dialect.Decode(data)
	if err != nil {
		return dialect.Block("lictor: " + err.Error())
	}
	options, err := flags.options(cmd, s)
	if err != nil {
		return dialect.Block("lictor: " + err.Error())
	}
	if options.Root == "" {
		options.Root = projectFolder(event)
	}
	options.Cwd = event.Call.Cwd
	engine, err := lictor.Open(cmd.Context(), options)
	if err != nil {
		return dialect.Block("lictor: " + err.Error())
	}
	defer engine.Close()
	for _, n := range engine.Notices() {
		fmt.Fprintln(s.err, "lictor: notice:", n)
	}
	// An input or engine error is already a deny verdict that says why.
	v, _ := engine.Check(cmd.Context(), event.Call)
	return dialect.Encode(&v)
}

// projectFolder is the agent's own word for its project: the event's, or the
// variable that the agent sets for its hooks. The event's cwd is not that: it
// moves while the agent works, and the root must not.
func projectFolder(event *hook.Event) string {
	if event.Project != "" {
		return event.Project
	}
	return os.Getenv("CLAUDE_PROJECT_DIR")
}

func reply(s *streams, r hook.Reply) error {
	if len(r.Stderr) > 0 {
		fmt.Fprint(s.err, string(r.Stderr))
	}
	if _, err := s.out.Write(r.Stdout); err != nil {
		return &exitError{code: exitAsk, err: fmt.Errorf("writing the answer: %w", err)}
	}
	return exit(r.Code)
}
