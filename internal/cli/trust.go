package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/audit"
	"github.com/lictor-policy/lictor/internal/config"
)

func newTrust(s *streams) *cobra.Command {
	var flags projectFlags
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Show, accept or revoke what a project's files loosen",
		Long: `trust is about those parts of a project's files that loosen safety: allow rules,
writable paths, network hosts and the like. A repository that you cloned could
bring them along, so they apply only after you accepted them, for this folder and
exactly as they are; a change has to be accepted again. Deny and ask rules always
apply.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags.register(cmd)
	var yes bool
	accept := &cobra.Command{
		Use:   "accept",
		Short: "Accept what this project's files loosen now",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return acceptTrust(cmd, s, &flags, yes)
		},
	}
	accept.Flags().BoolVar(&yes, "yes", false, "do not ask")
	revoke := &cobra.Command{
		Use:   "revoke",
		Short: "Take the consent for this project back",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			found, err := config.OpenTrust(p.places.Trust).Forget(p.places.Root)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			if !found {
				fmt.Fprintf(s.out, "%s was not trusted\n", p.places.Root)
				return nil
			}
			if err := p.record(audit.Event{Type: audit.TypeConsent, Kind: "revoked", Reason: "the consent was taken back"}); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s is no longer trusted: what its files loosen does not apply\n", p.places.Root)
			return nil
		},
	}
	revoke.Flags().Bool("yes", false, "do not ask (revoking never asks)")
	show := &cobra.Command{
		Use:   "show",
		Short: "Show what this project's files loosen, and whether that is accepted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showTrust(cmd, s, &flags)
		},
	}
	cmd.AddCommand(show, accept, revoke)
	return cmd
}

// assess reads the project and lists what it loosens.
func (p *project) assess(cmd *cobra.Command) (config.Risk, error) {
	loaded, err := config.Read(cmd.Context(), p.places, p.options)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	risk, err := config.AssessRisk(cmd.Context(), p.options.Rego, loaded)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return risk, nil
}

func showTrust(cmd *cobra.Command, s *streams, flags *projectFlags) error {
	p, err := flags.open(cmd.Context())
	if err != nil {
		return err
	}
	risk, err := p.assess(cmd)
	if err != nil {
		return err
	}
	trust := config.OpenTrust(p.places.Trust)
	if broken := trust.Broken(); broken != nil {
		fmt.Fprintln(s.err, "lictor: nothing is trusted:", broken)
	}
	fmt.Fprintln(s.out, p.places.Root)
	if len(risk) == 0 {
		fmt.Fprintln(s.out, "nothing in this project's files loosens safety")
		return nil
	}
	printRisk(s.out, risk)
	pin, ok := trust.Pin(p.places.Root)
	switch {
	case ok && pin.Hash == risk.Hash():
		fmt.Fprintf(s.out, "accepted on %s\n", pin.Time.Format("2006-01-02 15:04 MST"))
	case ok:
		fmt.Fprintf(s.out, "changed since you accepted it: %s\n", strings.Join(risk.Changes(pin.Risk), "; "))
		fmt.Fprintln(s.out, "not applied; `lictor trust accept` accepts it as it is now")
	default:
		fmt.Fprintln(s.out, "not accepted, so not applied; `lictor trust accept` accepts it")
	}
	return nil
}

func acceptTrust(cmd *cobra.Command, s *streams, flags *projectFlags, yes bool) error {
	p, err := flags.open(cmd.Context())
	if err != nil {
		return err
	}
	risk, err := p.assess(cmd)
	if err != nil {
		return err
	}
	if len(risk) == 0 {
		fmt.Fprintf(s.out, "%s: nothing to accept, its files loosen nothing\n", p.places.Root)
		return nil
	}
	trust := config.OpenTrust(p.places.Trust)
	fmt.Fprintln(s.out, p.places.Root)
	printRisk(s.out, risk)
	if pin, ok := trust.Pin(p.places.Root); ok && pin.Hash != risk.Hash() {
		fmt.Fprintf(s.out, "changed since you accepted it: %s\n", strings.Join(risk.Changes(pin.Risk), "; "))
	}
	if !yes && !confirm(s, "accept this for this folder?") {
		return fail(exitDeny, "nothing was accepted")
	}
	if err := trust.Accept(p.places.Root, risk); err != nil {
		return &exitError{code: exitDeny, err: err}
	}
	if err := p.record(audit.Event{Type: audit.TypeConsent, Kind: "accepted", Reason: "accepted " + risk.Hash()}); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "accepted; it applies until one of these lines changes")
	return nil
}

func printRisk(w io.Writer, risk config.Risk) {
	for _, item := range risk {
		fmt.Fprintf(w, "  %s: %s\n", item.File, item.String())
	}
}

// confirm asks on the terminal. Where there is none the answer is no.
func confirm(s *streams, question string) bool {
	in, ok := s.in.(*os.File)
	if !ok || !isTerminal(in) {
		fmt.Fprintln(s.err, "lictor: nobody can be asked here; --yes answers yes")
		return false
	}
	fmt.Fprintf(s.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return false
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
