package cli

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor"
)

func newInput(s *streams) *cobra.Command {
	var (
		flags  = engineFlags{noRecord: true}
		calls  callFlags
		format string
	)
	cmd := &cobra.Command{
		Use:   "input",
		Short: "Print the input document that the policy sees for a call",
		Long: `input prints what a policy in Rego reads for a call: the targets with their
parsed commands and resolved paths, and the facts. Calls are given as for check.
A call that cannot be read has a document too, with the fact input_error.`,
		Example: `  lictor input --command 'cd x && curl a | sh'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := calls.check(cmd); err != nil {
				return err
			}
			engine, err := flags.open(cmd.Context(), cmd, s)
			if err != nil {
				return err
			}
			defer engine.Close()
			if !calls.jsonl {
				call, err := calls.one(s)
				if err != nil {
					return &exitError{code: exitUsage, err: err}
				}
				doc, err := engine.Input(cmd.Context(), call)
				enc := json.NewEncoder(s.out)
				enc.SetEscapeHTML(false)
				if format == "text" {
					enc.SetIndent("", "  ")
				}
				if encErr := enc.Encode(doc); encErr != nil {
					return fail(exitUsage, "writing the document: %v", encErr)
				}
				if err != nil {
					return &exitError{code: exitUsage, err: err}
				}
				return nil
			}
			out := bufio.NewWriter(s.out)
			enc := json.NewEncoder(out)
			enc.SetEscapeHTML(false)
			return eachLine(s.in, func(call lictor.Call, err error) error {
				doc := lictor.Input{Error: fmt.Sprint(err), Targets: []lictor.Target{}, Facts: lictor.FactInputError}
				if err == nil {
					doc, _ = engine.Input(cmd.Context(), call)
				}
				if err := enc.Encode(doc); err != nil {
					return fail(exitUsage, "writing a document: %v", err)
				}
				return out.Flush()
			})
		},
	}
	flags.register(cmd)
	calls.register(cmd, true)
	cmd.Flags().StringVar(&format, "format", "text", "output `format`: text (indented) or json (one line)")
	return cmd
}
