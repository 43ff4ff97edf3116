package facts

import (
	"errors"
	"path"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/netguard"
	"github.com/lictor-policy/lictor/internal/pathguard"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// harmless are the devices that a redirection may name without touching a file.
// Below /dev/fd that is a descriptor and nothing else: the folder is a link into
// /proc, and leads anywhere from there.
func harmless(name string) bool {
	switch name {
	case "/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom":
		return true
	}
	fd, is := strings.CutPrefix(name, "/dev/fd/")
	return is && fd != "" && strings.Trim(fd, "0123456789") == ""
}

// connects reports whether a redirection opens a connection. It touches no file,
// but what goes through it leaves: no rule for the command covers it.
func connects(name string) bool {
	return strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/")
}

// locate resolves a path that a command's text names. dir is where `cd` in the
// same text has led, relative to the call's folder; known is false if neither
// the path nor the text says where it lies.
func (x *Context) locate(name, dir string, dirKnown bool, cwd string) (p model.Path, known bool, err error) {
	full := name
	for _, pwd := range []string{"$PWD", "${PWD}"} {
		if rest, ok := strings.CutPrefix(name, pwd); ok && (rest == "" || rest[0] == '/') {
			full = "." + rest // where `cd` has led, like any relative path
		}
	}
	full = x.expand(full, cwd)
	if !path.IsAbs(full) && !strings.HasPrefix(full, "~") {
		if !dirKnown {
			return model.Path{Text: name}, false, nil
		}
		if dir != "" {
			// Joined as text, not cleaned: the kernel follows a link before its "..".
			full = x.expand(dir, cwd) + "/" + full
		}
	}
	p, err = x.Guard.Resolve(full, cwd)
	p.Text = name
	return p, true, err
}

// rooted reports a path that starts in no folder that `cd` could change.
func rooted(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") ||
		strings.HasPrefix(name, "$HOME") || strings.HasPrefix(name, "${HOME}")
}

// expand replaces a leading $HOME or $PWD, which the analysis leaves in place
// because it knows neither.
func (x *Context) expand(name, cwd string) string {
	if cwd == "" {
		cwd = x.Guard.Root()
	}
	for _, v := range []struct{ name, value string }{
		{"${HOME}", x.Guard.Home()},
		{"$HOME", x.Guard.Home()},
		{"${PWD}", cwd},
		{"$PWD", cwd},
	} {
		if rest, ok := strings.CutPrefix(name, v.name); ok && v.value != "" && (rest == "" || rest[0] == '/') {
			return v.value + rest
		}
	}
	return name
}

// inputError makes an input error of what a room says about a target, where the
// call is at fault, and leaves errors of the disk as they are.
func inputError(tool string, t *model.Target, err error) error {
	var (
		already *toolcall.InputError
		path    *pathguard.InputError
		host    *netguard.InputError
	)
	field := string(t.Kind)
	switch {
	case errors.As(err, &already):
		return err
	case errors.As(err, &path), errors.As(err, &host):
		return &toolcall.InputError{Tool: tool, Field: field, Problem: err.Error()}
	}
	return err
}
