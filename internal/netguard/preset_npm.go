package netguard

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// option is a setting with the place where it stands.
type option struct{ key, value, source string }

// options are settings in the order of their rank: the first one for a key counts.
type options []option

func (o options) get(key string) (option, bool) {
	i := slices.IndexFunc(o, func(x option) bool { return x.key == key })
	if i < 0 {
		return option{}, false
	}
	return o[i], true
}

// set adds a setting unless the key is there already.
func (o *options) set(x option) {
	if _, ok := o.get(x.key); !ok {
		*o = append(*o, x)
	}
}

// presetNPM finds the registries of npm, pnpm and yarn. A proxy that npm is
// configured to use is left out on purpose: whoever may reach a proxy may reach
// everything.
func presetNPM(f *finder) error {
	npm, err := f.npmOptions()
	if err != nil {
		return err
	}
	registry, custom := npm.get("registry")
	if custom {
		f.url(registry.value, registry.source)
	} else {
		f.npmDefault()
	}
	for _, o := range npm {
		if o.key != "registry" && npmHostKey(o.key) {
			f.url(o.value, o.source)
		}
	}
	yarn, err := f.yarnOptions()
	if err != nil {
		return err
	}
	for _, o := range yarn {
		f.url(o.value, o.source)
	}
	return nil
}

// npmDefault adds the registry that npm uses when nobody configured one, which
// npm itself says. (yarn's own default is not opened: name it in ~/.yarnrc.yml or
// as a host.)
func (f *finder) npmDefault() {
	value, err := f.user.ask("npm", "config", "get", "registry")
	u, parseErr := url.Parse(value)
	if err != nil || parseErr != nil || u.Hostname() == "" {
		f.note("npm", "no registry is configured, and npm could not be asked for its own: no host")
		return
	}
	f.builtIn(strings.ToLower(u.Hostname()))
}

// npmHostKey reports a key of npm that names a server to download from.
func npmHostKey(key string) bool {
	if strings.HasPrefix(key, "@") {
		return strings.HasSuffix(key, ":registry")
	}
	if key == "disturl" || key == "dist-url" {
		return true
	}
	key = strings.ReplaceAll(key, "-", "_")
	for _, end := range []string{"_mirror", "_binary_site", "_binary_host", "_download_host", "_binary_host_mirror"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// npmOptions reads npm's settings: environment, user file, pnpm's file, global
// file.
func (f *finder) npmOptions() (options, error) {
	var out options
	env := f.npmEnv()
	for _, key := range []string{"registry", "userconfig", "globalconfig", "prefix"} {
		if value := env[key]; value != "" {
			out.set(option{key, value, "npm_config_" + key + " in the environment"})
		}
	}
	files := []string{f.pathOption(out, "userconfig", f.user.home(".npmrc"))}
	files = append(files, f.pnpmFile())
	for _, path := range files {
		if err := f.readINI(&out, path, true); err != nil {
			return nil, err
		}
	}
	var global []string
	if path := f.pathOption(out, "globalconfig", ""); path != "" {
		global = []string{path}
	} else if prefix := f.pathOption(out, "prefix", ""); prefix != "" {
		global = []string{filepath.Join(prefix, "etc", "npmrc")}
	} else {
		for _, path := range []string{"/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc", "/opt/homebrew/etc/npmrc"} {
			global = append(global, f.user.system(path))
		}
	}
	for _, path := range global {
		if err := f.readINI(&out, path, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// npmEnv are the npm_config_… variables. Below npm itself they are not used: npm
// puts the project's own configuration there.
func (f *finder) npmEnv() map[string]string {
	out := map[string]string{}
	if f.belowNPM() {
		return out
	}
	for name, value := range f.user.Env {
		if key, ok := strings.CutPrefix(strings.ToLower(name), "npm_config_"); ok {
			out[key] = value
		}
	}
	return out
}

// belowNPM reports that a package manager started this process.
func (f *finder) belowNPM() bool {
	return slices.ContainsFunc([]string{"npm_execpath", "npm_lifecycle_event", "npm_command"}, func(name string) bool {
		return f.user.Env[name] != ""
	})
}

// pathOption is an absolute path from a setting, or the default.
func (f *finder) pathOption(o options, key, def string) string {
	x, ok := o.get(key)
	if !ok {
		return def
	}
	path := x.value
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = f.user.home(rest)
	}
	if !filepath.IsAbs(path) {
		return def
	}
	return path
}

func (f *finder) pnpmFile() string {
	if f.user.os() == "darwin" {
		return filepath.Join(f.user.folder("XDG_CONFIG_HOME", f.user.home("Library", "Preferences")), "pnpm", "rc")
	}
	return filepath.Join(f.user.xdg(), "pnpm", "rc")
}

// yarnOptions reads yarn's registries: both generations, each with its file and
// variables.
func (f *finder) yarnOptions() (options, error) {
	var out options
	for _, v := range [][2]string{{"YARN_REGISTRY", "registry"}, {"YARN_NPM_REGISTRY_SERVER", "npmRegistryServer"}} {
		if value := f.user.Env[v[0]]; value != "" && !f.belowNPM() {
			out.set(option{v[1], value, v[0] + " in the environment"})
		}
	}
	if err := f.yarnClassic(&out); err != nil {
		return nil, err
	}
	return out, f.yarnBerry(&out)
}

// yarnClassic reads ~/.yarnrc: lines of a key and a value, each maybe quoted.
func (f *finder) yarnClassic(out *options) error {
	path := f.user.home(".yarnrc")
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, rest := quotedWord(line)
		value, _ := quotedWord(rest)
		key = strings.TrimSuffix(key, ":")
		if key == "registry" || strings.HasPrefix(key, "@") && strings.HasSuffix(key, ":registry") {
			f.option(out, key, value, path)
		}
	}
	return nil
}

// quotedWord takes a word off the front of a line, without its quotes.
func quotedWord(s string) (word, rest string) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, `"`) {
		word, rest, _ = strings.Cut(s[1:], `"`)
		return word, strings.TrimPrefix(rest, ":")
	}
	word, rest, _ = strings.Cut(s, " ")
	return word, rest
}

// yarnBerry reads ~/.yarnrc.yml.
func (f *finder) yarnBerry(out *options) error {
	path := f.user.home(".yarnrc.yml")
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	var file struct {
		Server string `yaml:"npmRegistryServer"`
		Scopes map[string]struct {
			Server string `yaml:"npmRegistryServer"`
		} `yaml:"npmScopes"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		return f.broken(path, err)
	}
	if file.Server != "" {
		f.option(out, "npmRegistryServer", file.Server, path)
	}
	names := make([]string, 0, len(file.Scopes))
	for name := range file.Scopes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if server := file.Scopes[name].Server; server != "" {
			f.option(out, "npmScopes."+name, server, path)
		}
	}
	return nil
}
