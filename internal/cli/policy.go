package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/config"
)

func newPolicy(s *streams) *cobra.Command {
	var flags projectFlags
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show the merged team policy, or check a policy file",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags.register(cmd)
	var format string
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the merged team policy and which file set each value",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			loaded, err := config.Read(cmd.Context(), p.places, p.options)
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			for _, n := range loaded.Notices {
				fmt.Fprintln(s.err, "lictor: notice:", n)
			}
			rows := policyRows(loaded.Policy)
			if format == "json" {
				out := struct {
					Policy  json.RawMessage `json:"policy"`
					Origins []policyRow     `json:"origins"`
				}{json.RawMessage("null"), rows}
				if loaded.Policy != nil {
					out.Policy = loaded.Policy.Document
				}
				return writeJSON(s.out, out)
			}
			if len(rows) == 0 {
				fmt.Fprintf(s.out, "no team policy: neither %s nor %s sets anything\n", p.places.ManagedPolicy, p.places.HomePolicy)
				return nil
			}
			w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\n", r.Key, r.Value, r.Source)
			}
			return w.Flush()
		},
	}
	formatFlag(show, &format)
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a team policy file as it would be read",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := config.ReadUserFile(args[0])
			if err == nil && text == nil {
				return fail(exitUsage, "%s: there is no such file", args[0])
			}
			if err != nil {
				return &exitError{code: exitUsage, err: err}
			}
			if _, err := config.ParsePolicy(args[0], text); err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "%s: a valid team policy\n", args[0])
			return nil
		},
	}
	cmd.AddCommand(show, check)
	return cmd
}

// policyRow is one value of the merged policy.
type policyRow struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// policyRows lists the values of a merged policy with the layer that set each.
func policyRows(p *config.Policy) []policyRow {
	rows := []policyRow{}
	if p == nil {
		return rows
	}
	one := func(key, value string) { rows = append(rows, policyRow{key, value, p.Sources[key]}) }
	yes := func(key string, set bool) {
		if set {
			one(key, "true")
		}
	}
	list := func(key string, entries []config.PolicyEntry) {
		for _, e := range entries {
			rows = append(rows, policyRow{key, strconv.Quote(e.Text), e.Source})
		}
	}
	text := func(key, value string) {
		if value != "" {
			one(key, value)
		}
	}
	number := func(key string, value int) {
		if value != 0 {
			one(key, strconv.Itoa(value))
		}
	}
	text("profile", p.Profile)
	yes("requireSandbox", p.RequireSandbox)
	list("disallowedCommands", p.DisallowedCommands)
	list("denyPaths", p.DenyPaths)
	list("network.blockedHosts", p.BlockedHosts)
	yes("network.strictAllowlist", p.StrictAllowlist)
	yes("askFirst", p.AskFirst)
	text("paths.outsideRoot", p.OutsideRoot)
	for _, models := range p.AllowedModels {
		rows = append(rows, policyRow{"allowedModels", strings.Join(models.Patterns, ", "), models.Source})
	}
	number("limits.maxSteps", p.Limits.MaxSteps)
	number("limits.tokenBudget", p.Limits.TokenBudget)
	yes("audit.enabled", p.AuditEnabled)
	text("audit.level", p.AuditLevel)
	yes("audit.checkpoint", p.AuditCheckpoint)
	yes("audit.observe", p.Observe)
	return rows
}
