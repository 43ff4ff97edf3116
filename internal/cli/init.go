package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/config"
)

func newInit(s *streams) *cobra.Command {
	var flags projectFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a first .lictor/settings.json for the project here",
		Long: `init looks at the project, writes a commented settings file for it and says what
it put there and why. It never overwrites a file. What the file allows counts as
accepted, because you ran this command for it; see ` + "`lictor trust show`" + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.root == "" {
				// A project that has neither .lictor nor .git yet is the folder here.
				cwd, err := os.Getwd()
				if err != nil {
					return fail(exitUsage, "working folder unknown: %v", err)
				}
				home, err := config.HomeFolder()
				if err != nil {
					return &exitError{code: exitUsage, err: err}
				}
				if _, err := config.FindRoot("", "", cwd, home); err != nil {
					flags.root = filepath.Clean(cwd)
				}
			}
			p, err := flags.open(cmd.Context())
			if err != nil {
				return err
			}
			explanation, err := config.Init(cmd.Context(), p.places, p.options)
			if errors.Is(err, fs.ErrExist) {
				return fail(exitDeny, "%v: it is left as it is", err)
			}
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "wrote %s\n", p.places.Settings)
			for _, line := range explanation {
				fmt.Fprintf(s.out, "  %s\n", line)
			}
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}
