package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lictor-policy/lictor/internal/bundle"
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/eval"
	"github.com/lictor-policy/lictor/internal/facts"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/rules"
	"github.com/lictor-policy/lictor/internal/toolcall"
	"github.com/lictor-policy/lictor/rego"
)

// project is what the commands that look after a project's files work on: they
// must also work where an engine would not open.
type project struct {
	places  config.Places
	options config.Options
}

// projectFlags are the flags of those commands.
type projectFlags struct{ root, managed string }

func (f *projectFlags) register(cmd *cobra.Command) {
	fl := cmd.PersistentFlags()
	fl.StringVar(&f.root, "root", "", "the project `folder` (default: the nearest folder with .lictor or .git)")
	fl.StringVar(&f.managed, "managed-policy", "", "team policy `file` to use in place of the system's (for tests)")
}

// whereabouts are the user's home folder and the folder that lictor runs in.
func whereabouts() (home, cwd string, err error) {
	if home, err = config.HomeFolder(); err != nil {
		return "", "", &exitError{code: exitUsage, err: err}
	}
	if cwd, err = os.Getwd(); err != nil {
		return "", "", fail(exitUsage, "working folder unknown: %v", err)
	}
	return home, cwd, nil
}

// findRoot finds the home folder and the project that --root names, or that
// lictor runs in.
func findRoot(flag string) (home, root string, err error) {
	home, cwd, err := whereabouts()
	if err != nil {
		return "", "", err
	}
	if root, err = config.FindRoot(flag, "", cwd, home); err != nil {
		return "", "", &exitError{code: exitUsage, err: err}
	}
	return home, root, nil
}

// userPlaces are the places of the user and the machine, whatever the project.
func userPlaces() (config.Places, error) {
	home, err := config.HomeFolder()
	if err != nil {
		return config.Places{}, &exitError{code: exitUsage, err: err}
	}
	return config.FindPlaces(home, home), nil
}

func (f *projectFlags) open(ctx context.Context) (*project, error) {
	home, root, err := findRoot(f.root)
	if err != nil {
		return nil, err
	}
	policy, err := eval.New(ctx)
	if err != nil {
		return nil, fail(exitUsage, "compiling the policy: %v", err)
	}
	user, err := netguard.CurrentUser()
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	user.Home = home
	presets := &netguard.PresetCache{User: user}
	places := config.FindPlaces(root, home).WithManagedPolicy(f.managed)
	layers, err := bundlePolicies(ctx, places)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return &project{
		places: places,
		// The same options as an engine has: what is shown here is what is pinned.
		options: config.Options{Rego: policy, Hosts: presets.Hosts, Bundles: layers},
	}, nil
}

// bundlePolicies are the team policy documents of the managed bundles that lie in
// the machine's folder and the home folder.
func bundlePolicies(ctx context.Context, places config.Places) ([]config.PolicyLayer, error) {
	set := bundle.NewSet(bundle.Options{
		Folders: places.BundleDirs, Keys: []string{filepath.Join(places.ManagedDir, "keys")},
		State: filepath.Join(places.HomeDir, "bundles.state"),
	})
	if err := set.Reload(ctx); err != nil {
		return nil, err
	}
	var layers []config.PolicyLayer
	for _, d := range set.Policies() {
		layers = append(layers, config.PolicyLayer{Origin: d.Source, Text: d.Text})
	}
	return layers, nil
}

// env is the world that the project's rules are compiled in.
func (p *project) env() (rules.Env, *toolcall.Table, *pathguard.Guard, error) {
	table, err := toolcall.LoadTable(rego.Tools)
	if err != nil {
		return rules.Env{}, nil, nil, &exitError{code: exitUsage, err: err}
	}
	guard, err := pathguard.New(p.places.Root, pathguard.WithHome(p.places.Home))
	if err != nil {
		return rules.Env{}, nil, nil, &exitError{code: exitUsage, err: err}
	}
	return facts.Env(guard, table), table, guard, nil
}

// permissions opens the permission files.
func (p *project) permissions() (*rules.Permissions, rules.Options, error) {
	env, _, _, err := p.env()
	if err != nil {
		return nil, rules.Options{}, err
	}
	o := rules.Options{Env: env, User: p.places.HomePermissions, System: p.places.ManagedPermissions}
	perms, err := rules.Load(p.places.Root, o)
	if err != nil {
		return nil, o, fail(exitUsage, "%w (nothing was changed)", err)
	}
	return perms, o, nil
}
