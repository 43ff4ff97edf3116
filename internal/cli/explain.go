package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
)

func newExplain(s *streams) *cobra.Command {
	var (
		flags  = engineFlags{noRecord: true}
		calls  callFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say step by step why a call is allowed, denied or asked about",
		Long: `explain decides a call as check does and prints every step of the chain with its
outcome, the rule and file that decided, what the analysis saw, and what would
have allowed the call. The exit code is that of check.`,
		Example: `  lictor explain --command 'cd x && curl a | sh'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := calls.check(cmd); err != nil {
				return err
			}
			engine, err := flags.open(cmd.Context(), cmd, s)
			if err != nil {
				v := lictor.ErrorVerdict(err)
				return answer(s, &v, format, err)
			}
			defer engine.Close()
			call, err := calls.one(s)
			if err != nil {
				v := lictor.InputVerdict(err)
				return answer(s, &v, format, err)
			}
			e, err := engine.Explain(cmd.Context(), call)
			if format == "json" {
				if printErr := writeJSON(s.out, e); printErr != nil {
					return fail(exitUsage, "writing the explanation: %v", printErr)
				}
			} else if printErr := printExplanation(s.out, &e); printErr != nil {
				return fail(exitUsage, "writing the explanation: %v", printErr)
			}
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			return exit(exitCode(&e.Verdict))
		},
	}
	flags.register(cmd)
	calls.register(cmd, false)
	formatFlag(cmd, &format)
	return cmd
}

func printExplanation(w io.Writer, e *lictor.Explanation) error {
	var b strings.Builder
	v := &e.Verdict
	fmt.Fprintf(&b, "%s  %s\n\n", paint(w, decisionColour[v.Decision], string(v.Decision)), v.Reason)
	for _, s := range e.Steps {
		mark, detail := " ", "-"
		switch s.Outcome {
		case "decides":
			mark, detail = ">", "decides: "+string(s.Decision)
		case "holds too":
			mark, detail = "+", "holds too: "+string(s.Decision)
		}
		if s.Rule != nil {
			detail += fmt.Sprintf(", %s in %s", s.Rule.Text, s.Rule.Source)
		}
		line := fmt.Sprintf("%s %-3s %-26s %s", mark, s.Step.Step, s.Title, detail)
		if s.Outcome == "decides" {
			line = paint(w, decisionColour[s.Decision], line)
		}
		fmt.Fprintln(&b, line)
	}
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, l := range lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	section("what lictor saw", e.Notes)
	section("what would have allowed it", e.Allows)
	fmt.Fprintf(&b, "\npolicy revision %s\n", v.Revision)
	_, err := io.WriteString(w, b.String())
	return err
}
