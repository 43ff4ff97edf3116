package netguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// UserConfig says where the user's own configuration of tools is.
type UserConfig struct {
	// Home is the user's home folder.
	Home string
	// Env is the user's environment. Variables that a package manager sets for its
	// scripts are not used, since they can come from a project.
	Env map[string]string
	// GOOS is the operating system whose places count; "" is this one.
	GOOS string
	// Root is put before the paths of the system's files ("/etc/pip.conf"); "" for
	// none.
	Root string
	// Tool asks an installed tool for a default of its own, such as `npm config get
	// registry`; nil runs the tool, in a folder that belongs to no project.
	Tool func(ctx context.Context, name string, args ...string) (string, error)
}

// toolLimit is how long a tool may take to say its default.
const toolLimit = 10 * time.Second

// ask runs a tool for one of its defaults, with the user's home and PATH only, so
// that no project's file and no variable of a running script has a say.
func (u UserConfig) ask(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), toolLimit)
	defer cancel()
	if u.Tool != nil {
		return u.Tool(ctx, name, args...)
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.VolumeName(program) + string(filepath.Separator)
	cmd.Env = []string{"HOME=" + u.Home, "USERPROFILE=" + u.Home, "PATH=" + os.Getenv("PATH"), "GOTOOLCHAIN=local", "GOFLAGS="}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// CurrentUser is the configuration of the user who runs this process.
func CurrentUser() (UserConfig, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return UserConfig{}, fmt.Errorf("network.allow: the home folder is not known: %w", err)
	}
	return UserConfig{Home: home, Env: EnvMap(os.Environ())}, nil
}

// EnvMap turns "NAME=value" entries into a map. The last one counts.
func EnvMap(environ []string) map[string]string {
	out := make(map[string]string, len(environ))
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			out[name] = value
		}
	}
	return out
}

func (u UserConfig) os() string {
	if u.GOOS != "" {
		return u.GOOS
	}
	return runtime.GOOS
}

// home is a path below the home folder.
func (u UserConfig) home(elem ...string) string {
	return filepath.Join(append([]string{u.Home}, elem...)...)
}

// system is a path of the system's own.
func (u UserConfig) system(path string) string {
	if u.Root == "" {
		return filepath.FromSlash(path)
	}
	return filepath.Join(u.Root, filepath.FromSlash(path))
}

// configDir is the folder that os.UserConfigDir names.
func (u UserConfig) configDir() string {
	switch u.os() {
	case "windows":
		return u.folder("APPDATA", u.home("AppData", "Roaming"))
	case "darwin":
		return u.home("Library", "Application Support")
	}
	return u.xdg()
}

// xdg is $XDG_CONFIG_HOME or ~/.config.
func (u UserConfig) xdg() string { return u.folder("XDG_CONFIG_HOME", u.home(".config")) }

// folder is an absolute path from a variable, or the default. A relative one
// would start at the working folder, which can be a project.
func (u UserConfig) folder(variable, def string) string {
	if dir := u.Env[variable]; filepath.IsAbs(dir) {
		return dir
	}
	return def
}

// show writes a path below the home folder with "~".
func (u UserConfig) show(path string) string {
	if rel, err := filepath.Rel(u.Home, path); err == nil && u.Home != "" && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return path
}

// maxConfig bounds a configuration file.
const maxConfig = 1 << 20

// fileStamp tells whether a file has changed.
type fileStamp struct {
	path    string
	exists  bool
	size    int64
	changed time.Time
}

// stampOf looks at a file, links followed. A missing one is no error.
func stampOf(path string) (fileStamp, fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil:
		return fileStamp{path: path, exists: true, size: info.Size(), changed: info.ModTime()}, info, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fileStamp{path: path}, nil, nil
	}
	return fileStamp{path: path}, nil, err
}

// read returns a configuration file's text; missing is no error.
func (f *finder) read(path string) (text string, found bool, err error) {
	fail := func(err error) (string, bool, error) {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return "", false, f.broken(path, err)
	}
	stamp, info, err := stampOf(path)
	f.files = append(f.files, stamp)
	switch {
	case err != nil:
		return fail(err)
	case info == nil:
		return "", false, nil
	case !info.Mode().IsRegular():
		// Reading a pipe could wait forever.
		return fail(errors.New("not a regular file"))
	case info.Size() > maxConfig:
		return fail(errors.New("larger than 1 MiB"))
	}
	file, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfig))
	if err != nil {
		return fail(err)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), true, nil
}

// expand replaces ${NAME}, ${NAME:-default} and ${NAME-default}; false if a name
// is not set and has no default.
func (u UserConfig) expand(value string) (string, bool) {
	var b strings.Builder
	for {
		start := strings.Index(value, "${")
		if start < 0 {
			b.WriteString(value)
			return b.String(), true
		}
		name, rest, ok := strings.Cut(value[start+2:], "}")
		if !ok {
			return "", false
		}
		b.WriteString(value[:start])
		name, def, hasDef := strings.Cut(strings.TrimSuffix(name, "?"), "-")
		name, whenEmpty := strings.CutSuffix(name, ":")
		v, set := u.Env[name]
		switch {
		case set && (v != "" || !whenEmpty):
			b.WriteString(v)
		case hasDef:
			b.WriteString(def)
		default:
			return "", false
		}
		value = rest
	}
}
