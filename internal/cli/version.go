package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds (-ldflags "-X …/internal/cli.version=v1.2.3").
var version string

func newVersion(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of lictor and of its policy engine",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v, opa := versionText(), "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, dep := range info.Deps {
					if dep.Path == "github.com/open-policy-agent/opa" {
						opa = dep.Version
					}
				}
			}
			_, err := fmt.Fprintf(s.out, "lictor %s (opa %s, %s %s/%s)\n", v, opa, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versionText is lictor's version: the release's, the module's, or (devel).
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
