package netguard

import (
	"path/filepath"
	"strings"
)

// presetPyPI is the public index, and the indexes that pip and uv are configured
// to use.
func presetPyPI(f *finder) error {
	f.builtIn("pypi.org", "files.pythonhosted.org")
	for _, name := range []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL"} {
		f.indexes(f.user.Env[name], name+" in the environment")
	}
	for _, path := range f.pipFiles() {
		if err := f.readPip(path); err != nil {
			return err
		}
	}
	return f.readUV()
}

// indexes adds the web addresses of a value: several may stand there, with a
// name ("corp=https://…") for uv. Folders are no hosts.
func (f *finder) indexes(value, source string) {
	for _, word := range strings.Fields(value) {
		if name, rest, ok := strings.Cut(word, "="); ok && !strings.Contains(name, ":") {
			word = rest
		}
		if strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://") {
			f.url(word, source)
		}
	}
}

// pipFiles are the files that pip reads outside of projects and virtual
// environments.
func (f *finder) pipFiles() []string {
	var own []string
	if path := f.user.Env["PIP_CONFIG_FILE"]; filepath.IsAbs(path) {
		own = append(own, path)
	}
	switch f.user.os() {
	case "windows":
		return append(own, filepath.Join(f.user.folder("APPDATA", f.user.home("AppData", "Roaming")), "pip", "pip.ini"), f.user.home("pip", "pip.ini"))
	case "darwin":
		own = append(own, f.user.home("Library", "Application Support", "pip", "pip.conf"))
	}
	return append(own, filepath.Join(f.user.xdg(), "pip", "pip.conf"), f.user.home(".pip", "pip.conf"),
		f.user.system("/etc/xdg/pip/pip.conf"), f.user.system("/etc/pip.conf"))
}

// readPip reads a file of sections, whose values go on in indented lines.
func (f *finder) readPip(path string) error {
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	key := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
			continue
		case trimmed[0] == '[' && line[0] == '[':
			key = ""
			continue
		}
		value := trimmed
		if line[0] != ' ' && line[0] != '\t' {
			i := strings.IndexAny(trimmed, "=:")
			if i < 0 {
				key = ""
				continue
			}
			key, value = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(trimmed[:i])), "_", "-"), trimmed[i+1:]
		}
		switch key {
		case "index-url", "extra-index-url", "find-links":
			f.indexes(value, key+" in "+f.user.show(path))
		}
	}
	return nil
}

// readUV reads uv's own file.
func (f *finder) readUV() error {
	path := filepath.Join(f.user.configDirUV(), "uv", "uv.toml")
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	values, err := parseTOML(text)
	if err != nil {
		return f.broken(path, err)
	}
	for _, v := range values {
		switch name := strings.Join(v.path, "."); name {
		case "index-url", "extra-index-url", "find-links", "pip.index-url", "pip.extra-index-url", "pip.find-links", "index.url":
			f.indexes(v.text, name+" in "+f.user.show(path))
		}
	}
	return nil
}

// configDirUV is ~/.config on macOS too.
func (u UserConfig) configDirUV() string {
	if u.os() == "windows" {
		return u.configDir()
	}
	return u.xdg()
}
