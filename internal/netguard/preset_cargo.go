package netguard

import (
	"path/filepath"
	"slices"
	"strings"
)

// presetCargo is crates.io, and the registries and source replacements of the
// user's own file.
func presetCargo(f *finder) error {
	f.builtIn("index.crates.io", "static.crates.io", "crates.io")
	var names []string
	for name := range f.user.Env {
		if strings.HasPrefix(name, "CARGO_REGISTRIES_") && strings.HasSuffix(name, "_INDEX") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		f.cargoIndex(f.user.Env[name], name+" in the environment")
	}
	home := f.user.folder("CARGO_HOME", f.user.home(".cargo"))
	// The old name counts where both exist, as cargo has it.
	for _, base := range []string{"config", "config.toml"} {
		found, err := f.readCargo(filepath.Join(home, base))
		if err != nil || found {
			return err
		}
	}
	return nil
}

func (f *finder) readCargo(path string) (bool, error) {
	text, found, err := f.read(path)
	if err != nil || !found {
		return false, err
	}
	values, err := parseTOML(text)
	if err != nil {
		return true, f.broken(path, err)
	}
	for _, v := range values {
		if len(v.path) != 3 {
			continue
		}
		table, key := v.path[0], v.path[2]
		if table == "registries" && key == "index" || table == "source" && (key == "registry" || key == "git") {
			f.cargoIndex(v.text, strings.Join(v.path, ".")+" in "+f.user.show(path))
		}
	}
	return true, nil
}

// cargoIndex adds the host of an index, "sparse+https://…" or a git address.
func (f *finder) cargoIndex(value, source string) {
	value = strings.TrimPrefix(strings.TrimPrefix(value, "sparse+"), "registry+")
	if !strings.HasPrefix(value, "file:") {
		f.url(value, source)
	}
}
