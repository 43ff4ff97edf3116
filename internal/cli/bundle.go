package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/model"
)

func newBundle(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Write, test, build, sign and verify managed policy bundles",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newBundleInit(s), newBundleCheck(s), newBundleTest(s), newBundleBuild(s), newBundleSign(s),
		newBundleVerify(s), newBundleInspect(s), newBundleKeygen(s), newBundleSupport(s),
	)
	return cmd
}

// refused prints every problem of a bundle on a line of its own.
func refused(s *streams, err error) error {
	var r *bundle.Refused
	if !errors.As(err, &r) {
		return &exitError{code: exitDeny, err: err}
	}
	for _, p := range r.Problems {
		fmt.Fprintln(s.err, p)
	}
	return fail(exitDeny, "%s is refused: %s", r.Source, model.Count(len(r.Problems), "problem"))
}

func newBundleInit(s *streams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "init NAME",
		Short: "Write a new bundle that passes check and test as it is",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if dir == "" {
				dir = args[0]
			}
			files, err := bundle.Init(args[0], dir)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			for _, f := range files {
				fmt.Fprintln(s.out, "wrote", f)
			}
			fmt.Fprintf(s.out, "next: lictor bundle test %s\n", dir)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the `folder` to write (default: NAME)")
	return cmd
}

func newBundleCheck(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check BUNDLE",
		Short: "Hold a bundle against everything that a machine holds it against",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, advice, err := bundle.Check(cmd.Context(), args[0])
			if err != nil {
				return refused(s, err)
			}
			for _, a := range advice {
				fmt.Fprintln(s.out, "advice:", a)
			}
			fmt.Fprintf(s.out, "%s: %s, %s, all as they should be\n", b.Name(), model.Count(len(b.Rules()), "rule"), model.Count(len(b.Examples()), "example"))
			return nil
		},
	}
}

// supportFolder is where the files lie that a stock OPA needs.
func supportFolder() (string, error) {
	places, err := userPlaces()
	if err != nil {
		return "", err
	}
	return filepath.Join(places.HomeDir, "opa"), nil
}

func newBundleTest(s *streams) *cobra.Command {
	var (
		verbose   bool
		threshold float64
	)
	cmd := &cobra.Command{
		Use:   "test BUNDLE",
		Short: "Run a bundle's tests, strictly, with coverage",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			support, err := supportFolder()
			if err != nil {
				return err
			}
			report, err := bundle.Test(cmd.Context(), args[0], support)
			if err != nil {
				return refused(s, err)
			}
			failed := report.Failed()
			for _, r := range report.Results {
				word := "pass"
				switch {
				case r.Skipped:
					word = "skip"
				case !r.Pass:
					word = "FAIL"
				}
				if verbose || !r.Pass {
					fmt.Fprintf(s.out, "%s  %s  (%s:%d)\n", word, r.Name, r.File, r.Line)
				}
				for _, text := range []string{r.Error, r.Output} {
					if text != "" && (verbose || !r.Pass) {
						fmt.Fprintf(s.out, "      %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      "))
					}
				}
			}
			fmt.Fprintf(s.out, "%d passed, %d failed, coverage %.1f %%\n", len(report.Results)-failed, failed, report.Coverage)
			if len(report.Uncovered) > 0 {
				fmt.Fprintf(s.out, "no test runs: %s\n", strings.Join(report.Uncovered, " "))
			}
			fmt.Fprintf(s.out, "the same with a stock OPA:\n  %s\n", report.Stock)
			if failed > 0 {
				return exit(exitDeny)
			}
			if report.Coverage < threshold {
				return fail(exitDeny, "coverage is below %.1f %%", threshold)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print every test")
	cmd.Flags().Float64Var(&threshold, "threshold", 0, "fail below this coverage in `percent`")
	return cmd
}

func newBundleBuild(s *streams) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "build BUNDLE",
		Short: "Make an archive: the same bytes for the same files",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, b, err := bundle.Build(cmd.Context(), args[0], out)
			if err != nil {
				return refused(s, err)
			}
			fmt.Fprintf(s.out, "%s  revision %s  digest %s\n", file, b.Revision(), b.Digest())
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write (default: NAME.tar.gz)")
	return cmd
}

func newBundleSign(s *streams) *cobra.Command {
	var key, id string
	cmd := &cobra.Command{
		Use:   "sign BUNDLE --key FILE",
		Short: "Sign a bundle in its place",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return fail(exitUsage, "--key names the private key (`lictor bundle keygen` makes one)")
			}
			k, err := bundle.ReadSigningKey(key, id)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			b, err := bundle.Sign(cmd.Context(), args[0], k)
			if err != nil {
				return refused(s, err)
			}
			fmt.Fprintf(s.out, "%s: signed by %s, serial %d\n", b.Name(), k.ID, b.Serial())
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key `file`")
	cmd.Flags().StringVar(&id, "key-id", "", "the key's `name` (default: the file's, up to its first dot)")
	return cmd
}

// keyring reads the public keys of the machine's folder, or those that are named.
func keyring(named []string) (*bundle.Keyring, error) {
	if len(named) == 0 {
		places, err := userPlaces()
		if err != nil {
			return nil, err
		}
		keys, err := bundle.ReadKeys(filepath.Join(places.ManagedDir, "keys"))
		if err != nil {
			return nil, &exitError{code: exitDeny, err: err}
		}
		return keys, nil
	}
	keys, err := bundle.ReadKeys()
	if err != nil {
		return nil, &exitError{code: exitDeny, err: err}
	}
	for _, file := range named {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: err}
		}
		if err := keys.Add(strings.TrimSuffix(filepath.Base(file), ".pem"), text); err != nil {
			return nil, fail(exitUsage, "%s: %v", file, err)
		}
	}
	return keys, nil
}

// keyFlag names the keys that keyring reads.
func keyFlag(cmd *cobra.Command, named *[]string) {
	cmd.Flags().StringArrayVar(named, "key", nil, "public key `file` <id>.pem (default: the machine's keys folder)")
}

func newBundleVerify(s *streams) *cobra.Command {
	var named []string
	cmd := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Load a bundle as a machine does that takes signed bundles only",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := keyring(named)
			if err != nil {
				return err
			}
			b, err := bundle.Verify(cmd.Context(), args[0], keys)
			if err != nil {
				return refused(s, err)
			}
			fmt.Fprintf(s.out, "%s: revision %s, serial %d, signed by %s\n", b.Name(), b.Revision(), b.Serial(), b.KeyID())
			return nil
		},
	}
	keyFlag(cmd, &named)
	return cmd
}

func newBundleInspect(s *streams) *cobra.Command {
	var (
		named  []string
		format string
	)
	cmd := &cobra.Command{
		Use:   "inspect [BUNDLE]",
		Short: "Show a bundle's rules and examples; without a bundle, the built-in one's",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var info bundle.Info
			if len(args) == 0 {
				b, err := bundle.Baseline(cmd.Context())
				if err != nil {
					return refused(s, err)
				}
				info = b.Inspect()
			} else {
				keys, err := keyring(named)
				if err != nil {
					return err
				}
				if info, err = bundle.Inspect(cmd.Context(), args[0], keys); err != nil {
					return refused(s, err)
				}
			}
			if format == "json" {
				return writeJSON(s.out, info)
			}
			fmt.Fprintf(s.out, "%s  %s\nrevision %s, serial %d, digest %s\n", info.Name, info.Title, info.Revision, info.Serial, info.Digest)
			if info.Key != "" {
				fmt.Fprintln(s.out, "signed by", info.Key)
			}
			for _, r := range info.Rules {
				fmt.Fprintf(s.out, "\n%s %s  (%s:%d)\n  %s\n  about: %s\n", r.Effect, r.ID, r.File, r.Line, r.Title, r.Route)
				for _, e := range r.Bad {
					fmt.Fprintf(s.out, "  hits:  %s\n", e)
				}
				for _, e := range r.Good {
					fmt.Fprintf(s.out, "  not:   %s\n", e)
				}
			}
			return nil
		},
	}
	keyFlag(cmd, &named)
	formatFlag(cmd, &format)
	return cmd
}

func newBundleKeygen(s *streams) *cobra.Command {
	var dir, alg string
	cmd := &cobra.Command{
		Use:   "keygen ID",
		Short: "Make a key pair for signing bundles",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			private, public, err := bundle.Keygen(dir, args[0], alg)
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "%s  signs; keep it where no agent can read it\n%s  goes into the keys folder of every machine\n", private, public)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the `folder` to write")
	cmd.Flags().StringVar(&alg, "alg", bundle.AlgEdDSA, "the `algorithm`: EdDSA or ES256")
	return cmd
}

func newBundleSupport(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "support FOLDER",
		Short: "Write what a stock OPA needs: capabilities, schema, library",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			support, err := bundle.WriteSupport(args[0])
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "%s\n%s\n", support.CheckCommand("BUNDLE"), support.TestCommand("BUNDLE"))
			return nil
		},
	}
}
