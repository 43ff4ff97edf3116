package pathguard

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Limits of a path. The kernel follows 40 links; lictor refuses what the kernel
// would refuse. Texts may be longer than the kernel takes, because missing
// tails and links are joined before the kernel sees them.
const (
	maxLinks = 40
	maxText  = 4 * 4096
)

// Guard resolves paths against one root. It is safe for concurrent use.
type Guard struct {
	root string // as given: absolute, clean, '/' separated
	real string // the kernel's path of root
	home string // clean, absolute; "" if unknown
	// homeReal is home with links followed, for the display of real paths.
	homeReal string
	fold     bool
	// info is the folder that real named when the Guard was made. While it still
	// names that folder, a walk may start at real instead of at "/".
	info os.FileInfo
	id   folderID
	// same reports whether a path names the root's folder; tests replace it.
	same func(path string) bool
}

// Option changes how New builds a Guard.
type Option func(*Guard)

// WithHome sets the home folder: what a leading "~" means, and what Display
// shortens to "~/". Without it "~" is an input error. The folder need not exist.
func WithHome(dir string) Option { return func(g *Guard) { g.home = dir } }

// WithFold sets whether names that differ only in letter case (or Unicode
// normalisation) are the same name. The default is true on macOS and Windows.
func WithFold(fold bool) Option { return func(g *Guard) { g.fold = fold } }

// New makes the Guard of a root. root must name an existing folder; it may be a
// link to one. A relative root is taken from the working directory. The root
// is never "/", the home folder or a folder above it (SPEC section 1).
//
// Errors are *[RootError].
func New(root string, opts ...Option) (*Guard, error) {
	g := &Guard{fold: runtime.GOOS == "darwin" || runtime.GOOS == "windows"}
	for _, o := range opts {
		o(g)
	}
	if root == "" || strings.IndexByte(root, 0) >= 0 {
		return nil, &RootError{Root: root, Reason: "not a folder name; name the project folder with --root"}
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, &RootError{Root: root, Reason: "cannot be made absolute", Err: err}
	}
	if g.root, err = slashPath(abs); err != nil {
		return nil, &RootError{Root: root, Reason: "not a local folder", Err: err}
	}
	w, err := walkFrom("", g.root, g.root)
	if err != nil {
		return nil, &RootError{Root: root, Reason: "cannot be resolved", Err: err}
	}
	switch {
	case w.magic:
		return nil, &RootError{Root: root, Reason: "leads through a link of /proc, whose target differs per process; name the folder itself"}
	case w.missing > 0:
		return nil, &RootError{Root: root, Reason: "no such folder", Err: os.ErrNotExist}
	}
	g.real = w.real
	if g.info, err = os.Stat(systemPath(g.real)); err != nil {
		return nil, &RootError{Root: root, Reason: "cannot be read", Err: err}
	}
	if !g.info.IsDir() {
		return nil, &RootError{Root: root, Reason: "not a folder", Err: errNotFolder}
	}
	g.id = idOf(g.info)
	g.same = func(p string) bool {
		info, err := os.Stat(systemPath(p))
		return err == nil && os.SameFile(info, g.info)
	}
	if err := g.setHome(); err != nil {
		return nil, &RootError{Root: root, Reason: err.Error()}
	}
	if isVolume(g.real) {
		return nil, &RootError{Root: root, Reason: "the whole file system cannot be the root; name the project folder with --root"}
	}
	return g, nil
}

var errNotFolder = errors.New("is a file")

// setHome cleans the home folder and refuses a root that is the home folder or
// lies above it.
func (g *Guard) setHome() error {
	if g.home == "" {
		return nil
	}
	if !filepath.IsAbs(g.home) || strings.IndexByte(g.home, 0) >= 0 {
		return errors.New("the home folder " + Escape(g.home) + " is not an absolute path")
	}
	home, err := slashPath(filepath.Clean(g.home))
	if err != nil {
		return err
	}
	g.home, g.homeReal = home, home
	// A home that cannot be resolved (it need not exist) is compared as text.
	if w, err := walkFrom("", home, home); err == nil {
		g.homeReal = w.real
	}
	_, a := under(g.home, g.root, g.fold)
	_, b := under(g.homeReal, g.real, g.fold)
	if a || b {
		return errors.New("the home folder, or a folder above it, cannot be the root; name the project folder with --root")
	}
	return nil
}

// Root returns the root as given to New: absolute, clean, with '/'.
func (g *Guard) Root() string { return g.root }

// RealRoot returns the root with every link followed.
func (g *Guard) RealRoot() string { return g.real }

// Home returns the home folder as given (clean), or "".
func (g *Guard) Home() string { return g.home }

// RealHome returns the home folder with every link followed, or "".
func (g *Guard) RealHome() string { return g.homeReal }

// Fold reports whether letter case is ignored in names.
func (g *Guard) Fold() bool { return g.fold }

// onWindows selects the few branches that depend on Windows paths.
const onWindows = runtime.GOOS == "windows"

// slashPath brings an absolute path of this system into the one form of this
// package: clean, '/' separated.
func slashPath(abs string) (string, error) {
	if !onWindows {
		return clean(abs), nil
	}
	p, err := windowsPath(abs)
	return clean(p), err
}

// systemPath is the path for a system call.
func systemPath(p string) string {
	if onWindows {
		return filepath.FromSlash(p)
	}
	return p
}

// clean is path.Clean that knows a drive letter on Windows.
func clean(p string) string {
	if onWindows && hasDrive(p) {
		return p[:2] + path.Clean("/"+p[2:])
	}
	return path.Clean(p)
}

// joinPath makes text absolute against cwd, and cwd against root. It cleans
// nothing.
func joinPath(root, cwd, text string) (string, error) {
	switch {
	case onWindows:
		return windowsJoin(root, cwd, text)
	case text != "" && text[0] == '/':
		return text, nil
	case cwd == "" && text == "":
		return root, nil
	case cwd == "":
		return root + "/" + text, nil
	case cwd[0] == '/':
		return cwd + "/" + text, nil
	}
	return root + "/" + cwd + "/" + text, nil
}

// isVolume reports whether an absolute path is the top of a file system tree.
func isVolume(p string) bool {
	return p == "/" || onWindows && len(p) <= 3
}
