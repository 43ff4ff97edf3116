package config

import (
	"path"
	"strings"
)

// Places says where every file that lictor reads or writes lies. All paths are
// absolute. It is a plain value: PlacesFor computes it without looking at the
// disk, so that every platform's paths can be tested on any other.
type Places struct {
	// GOOS is the platform that the paths are for ("linux", "darwin", "windows").
	GOOS string
	// Root is the project's root, Home the user's home folder.
	Root, Home string

	// Settings, Permissions and LocalPermissions are the project's own files;
	// ProjectPolicy is the file that only earns a notice.
	Settings, Permissions, LocalPermissions, ProjectPolicy string

	// HomeDir is ~/.lictor, and the files below lie in it. HomeSettings may only
	// turn the strict profile on.
	HomeDir, HomeSettings, HomePermissions, HomePolicy string
	// Trust is the file with the user's consents, by root.
	Trust string
	// AuditDir holds one folder per project, ApprovalsDir the queue of questions,
	// KeysDir the signing keys, TmpDir the private temp folders.
	AuditDir, ApprovalsDir, KeysDir, TmpDir string

	// ManagedDir is the machine's folder, which an administrator owns.
	ManagedDir, ManagedPolicy, ManagedPermissions string
	// ManagedOverridden says that ManagedPolicy was given by the caller instead
	// of being the platform's; then the current user may own it.
	ManagedOverridden bool
	// SettingsOverridden says that Settings was given by the caller instead of
	// being the project's own, for asking what other settings would change.
	SettingsOverridden bool
	// BundleDirs are the folders of managed bundles, managed first.
	BundleDirs []string
}

// FolderName is the name of lictor's folder in a project and in the home folder.
const FolderName = ".lictor"

// PlacesFor computes the places of a project. goos is a runtime.GOOS, root and
// home are absolute, and env looks an environment variable up (only Windows'
// ProgramData is read; nil means an empty environment). It never touches the
// disk and has no errors: a place that does not exist is simply absent.
func PlacesFor(goos, root, home string, env func(string) string) Places {
	join := joiner(goos)
	managed := managedDir(goos, env)
	project, user := join(root, FolderName), join(home, FolderName)
	return Places{
		GOOS: goos,
		Root: root,
		Home: home,

		Settings:         join(project, "settings.json"),
		Permissions:      join(project, "permissions.json"),
		LocalPermissions: join(project, "permissions.local.json"),
		ProjectPolicy:    join(project, "policy.json"),

		HomeDir:         user,
		HomeSettings:    join(user, "settings.json"),
		HomePermissions: join(user, "permissions.json"),
		HomePolicy:      join(user, "policy.json"),
		Trust:           join(user, "trust.json"),
		AuditDir:        join(user, "audit"),
		ApprovalsDir:    join(user, "approvals"),
		KeysDir:         join(user, "keys"),
		TmpDir:          join(user, "tmp"),

		ManagedDir:         managed,
		ManagedPolicy:      join(managed, "policy.json"),
		ManagedPermissions: join(managed, "permissions.json"),
		BundleDirs:         []string{join(managed, "bundles"), join(user, "bundles")},
	}
}

// WithManagedPolicy returns the places with another managed policy file, as the
// flag --managed-policy gives it. An empty file changes nothing.
func (p Places) WithManagedPolicy(file string) Places {
	if file == "" {
		return p
	}
	p.ManagedPolicy, p.ManagedOverridden = file, true
	return p
}

// Expand makes a path of the settings absolute: "~" and "~/x" start at the home
// folder, relative paths at the root (SPEC section 7). The result is clean.
func (p Places) Expand(text string) string {
	join := joiner(p.GOOS)
	slashed := text
	if p.GOOS == "windows" {
		slashed = strings.ReplaceAll(text, `\`, "/")
	}
	switch {
	case slashed == "~":
		return join(p.Home)
	case strings.HasPrefix(slashed, "~/"):
		return join(p.Home, slashed[2:])
	case isAbs(p.GOOS, slashed):
		return join(slashed)
	}
	return join(p.Root, slashed)
}

// managedDir is the folder that only an administrator can write to.
func managedDir(goos string, env func(string) string) string {
	switch goos {
	case "darwin", "ios":
		return "/Library/Application Support/Lictor"
	case "windows":
		data := ""
		if env != nil {
			data = env("ProgramData")
		}
		// A relative ProgramData would let the working folder supply the policy.
		if !isAbs(goos, strings.ReplaceAll(data, `\`, "/")) {
			data = `C:\ProgramData`
		}
		return joiner(goos)(data, "Lictor")
	}
	return "/etc/lictor"
}

// joiner joins and cleans path elements with the platform's separator.
func joiner(goos string) func(...string) string {
	if goos != "windows" {
		return path.Join
	}
	return func(elements ...string) string {
		for i, e := range elements {
			elements[i] = strings.ReplaceAll(e, `\`, "/")
		}
		joined := path.Join(elements...)
		if len(elements) > 0 && strings.HasPrefix(elements[0], "//") {
			joined = "/" + joined // a UNC name keeps both of its slashes
		}
		return strings.ReplaceAll(joined, "/", `\`)
	}
}

// isAbs reports whether a path with '/' separators is absolute on the platform.
func isAbs(goos, slashed string) bool {
	if goos != "windows" {
		return strings.HasPrefix(slashed, "/")
	}
	if strings.HasPrefix(slashed, "//") {
		return true
	}
	return len(slashed) >= 3 && slashed[1] == ':' && slashed[2] == '/' &&
		(slashed[0]|0x20) >= 'a' && (slashed[0]|0x20) <= 'z'
}

// WithSettings returns the places with another settings file in place of the
// project's. An empty file changes nothing.
func (p Places) WithSettings(file string) Places {
	if file != "" {
		p.Settings, p.SettingsOverridden = file, true
	}
	return p
}
