package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// DefaultMaxOutput is how many bytes of each output stream are kept (SPEC
// section 8): the start and the end, with the middle cut.
const DefaultMaxOutput = 30000

// ExecPolicy is everything that a command may touch. It is a value: JSON-able, and
// the same for every executor. Paths are absolute and clean; they may lead through
// symbolic links, which Inspect resolves.
type ExecPolicy struct {
	// Root is the working root. It is writable unless ReadOnlyRoot (plan mode).
	Root         string `json:"root"`
	ReadOnlyRoot bool   `json:"readOnlyRoot"`
	Home         string `json:"home"`
	// StateDir is lictor's own folder (~/.lictor): registrations of placeholders and
	// the quarantine live below it.
	StateDir string `json:"stateDir"`
	// Sandbox asks for OS isolation. Strict is the strict profile.
	Sandbox bool `json:"sandbox"`
	Strict  bool `json:"strict"`
	// Write lists the writable files and folders, the root first.
	Write []string `json:"writePaths"`
	// named are those of Write that the settings name: one that is missing is told.
	named []string
	// Create lists writable folders that are made if they are missing (caches of
	// toolchains in use).
	Create []string `json:"create,omitempty"`
	// Temp lists the temp folders. With PrivateTemp they are replaced by this
	// folder of the host, one per project.
	Temp        []string `json:"temp"`
	PrivateTemp string   `json:"privateTemp,omitempty"`
	// Protected lists paths that are read-only although they lie in a writable
	// folder; ProtectedNames are names ("x" or "x/y") protected at any depth.
	Protected      []string `json:"denyWrite"`
	ProtectedNames []string `json:"protectedNames"`
	// Unreadable lists paths that can be neither read nor written.
	Unreadable []string `json:"denyRead"`
	// Network gives the command the host's network; Proxy a loopback of its own
	// whose only way out is lictor's proxy. Neither: no network.
	Network bool `json:"network"`
	Proxy   bool `json:"proxy"`
	// UnixSockets allows new Unix sockets inside. Host sockets stay out of reach
	// only where they are covered; off by default.
	UnixSockets bool `json:"unixSockets,omitempty"`
	// Env is the whole environment, NAME=value.
	Env []string `json:"env"`
	// Timeout ends the command and everything it started; 0 is none.
	Timeout time.Duration `json:"timeout"`
	// MaxOutput is the cap in bytes per stream; 0 is none.
	MaxOutput int    `json:"maxOutputBytes"`
	Limits    Limits `json:"limits"`
	// Deny reports whether the team's denyPaths name a path of the root. rel is
	// relative to the root with '/'. Every folder is searched when a command
	// starts. Nil: there are none.
	Deny func(rel string, dir bool) bool `json:"-"`
}

// Limits are the resource limits of one command. Zero is no limit.
type Limits struct {
	// Pids is the number of processes and threads: RLIMIT_NPROC within the user
	// namespace, and a cgroup for root, to whom that limit does not apply.
	Pids int `json:"pids"`
	// Memory is in bytes: a cgroup where one can be made, else RLIMIT_DATA per
	// process.
	Memory int64 `json:"memory"`
	// FileSize is the largest file in bytes, OpenFiles the number of descriptors,
	// CPU the processor time of one process.
	FileSize  int64         `json:"fileSize"`
	OpenFiles int           `json:"openFiles"`
	CPU       time.Duration `json:"cpu"`
	// Temp is the size of in-memory temp folders in bytes.
	Temp int64 `json:"temp"`
}

// Input is what NewPolicy builds an ExecPolicy from: settings, team policy and
// mode, already merged.
type Input struct {
	Root, Home, StateDir string
	Sandbox, Strict      bool
	// ReadOnlyRoot is plan mode. Server is a language or MCP server: read-only root,
	// no network, no output cap.
	ReadOnlyRoot, Server bool
	// WritePaths and DenyRead are the settings' lists: relative ones start at the
	// root, "~/" at the home folder.
	WritePaths, DenyRead []string
	// PrivateTmp asks for a temp folder of the project's own; strict implies it.
	PrivateTmp bool
	// EnvAllow adds variable names to the allowlist; Environ is the environment to
	// filter (nil: the process's own).
	EnvAllow, Environ []string
	// Network: the host's network (only without a sandbox). Proxy: through lictor's
	// proxy, which the caller runs.
	Network, Proxy bool
	UnixSockets    bool
	Timeout        time.Duration
	Limits         Limits
	// Unreadable and Protected add absolute paths (stores of the caller's own).
	Unreadable, Protected []string
	// Deny matches the team's denyPaths.
	Deny func(rel string, dir bool) bool
	// GOOS and Exists replace the platform and the disk in tests.
	GOOS   string
	Exists func(path string) bool
}

// ErrPolicy is wrapped by every error of NewPolicy.
var ErrPolicy = errors.New("exec policy")

// NewPolicy returns the policy of SPEC section 8 for in. It looks at the disk only
// to see which toolchains are in use (Input.Exists). Errors name the key: a root
// that is not absolute, is the file system's root or the home folder or above it; a
// write path that contains the home folder; a denied path that contains the root.
func NewPolicy(in Input) (*ExecPolicy, error) {
	if in.GOOS == "" {
		in.GOOS = runtime.GOOS
	}
	if in.Exists == nil {
		in.Exists = func(p string) bool { _, err := os.Lstat(p); return err == nil }
	}
	if in.Environ == nil {
		in.Environ = os.Environ()
	}
	if err := checkRoots(&in); err != nil {
		return nil, err
	}
	p := &ExecPolicy{
		Root: in.Root, Home: in.Home, StateDir: in.StateDir, Sandbox: in.Sandbox, Strict: in.Strict,
		ReadOnlyRoot: in.ReadOnlyRoot || in.Server, Proxy: in.Proxy && in.Sandbox, UnixSockets: in.UnixSockets,
		Network: !in.Sandbox || in.Network, Timeout: in.Timeout, MaxOutput: DefaultMaxOutput, Limits: in.Limits, Deny: in.Deny,
	}
	if in.Server {
		p.MaxOutput, p.Proxy, p.Network = 0, false, !in.Sandbox
	}
	tools := detect(&in)
	if err := p.setWrite(&in, tools); err != nil {
		return nil, err
	}
	p.setProtected(&in)
	if err := p.setUnreadable(&in); err != nil {
		return nil, err
	}
	p.Env = filterEnv(in.Environ, append(tools.env, in.EnvAllow...), p)
	return p, nil
}

func checkRoots(in *Input) error {
	for _, x := range []struct{ key, path string }{{"root", in.Root}, {"home", in.Home}} {
		if !filepath.IsAbs(x.path) || filepath.Clean(x.path) != x.path {
			return fmt.Errorf("%w: %s %q is not a clean absolute path", ErrPolicy, x.key, x.path)
		}
	}
	if in.StateDir == "" {
		in.StateDir = filepath.Join(in.Home, ".lictor")
	}
	if within(in.Home, in.Root) {
		return fmt.Errorf("%w: root %q is the home folder, the file system's root or above them; start in a project folder, or name one with --root", ErrPolicy, in.Root)
	}
	return nil
}

// setWrite lists what is writable: the root, temp folders, caches, the settings'
// own (SPEC section 8).
func (p *ExecPolicy) setWrite(in *Input, tools toolchains) error {
	if !p.ReadOnlyRoot {
		p.Write = append(p.Write, in.Root)
	}
	p.Temp = tempFolders(in)
	if in.PrivateTmp || in.Strict || anyWithin(p.Temp, in.Root, in.Home) {
		p.PrivateTemp = privateTemp(in)
	}
	for _, c := range homeCaches[family(in.GOOS)] {
		p.Write = append(p.Write, filepath.Join(in.Home, c))
	}
	if in.GOOS != "windows" {
		p.Create = append(p.Create, filepath.Join(in.Home, ".cache"))
	}
	p.Write = append(p.Write, tools.write...)
	p.Create = append(p.Create, tools.create...)
	for _, w := range in.WritePaths {
		path := expand(w, in)
		if path == "" || within(in.Home, path) {
			return fmt.Errorf("%w: sandbox.writePaths: %q is or contains the home folder; name the folders that commands must write to", ErrPolicy, w)
		}
		if p.ReadOnlyRoot && within(path, in.Root) {
			continue // plan mode: nothing of the root is writable
		}
		p.Write = append(p.Write, path)
		p.named = append(p.named, path)
	}
	p.Write = unique(p.Write)
	return nil
}

func (p *ExecPolicy) setProtected(in *Input) {
	if p.ReadOnlyRoot {
		p.Protected = append(p.Protected, in.Root)
	}
	git := filepath.Join(in.Root, ".git")
	if in.Strict {
		p.Protected = append(p.Protected, git)
	}
	for _, n := range gitProtected {
		p.Protected = append(p.Protected, filepath.Join(git, n))
	}
	for _, n := range protectedNames {
		p.Protected = append(p.Protected, filepath.Join(in.Root, filepath.FromSlash(n)))
	}
	p.ProtectedNames = slices.Clone(protectedNames)
	for _, n := range homeProtected {
		p.Protected = append(p.Protected, filepath.Join(in.Home, filepath.FromSlash(n)))
	}
	p.Protected = append(p.Protected, in.StateDir)
	p.Protected = append(p.Protected, in.Protected...)
	p.Protected = unique(p.Protected)
}

func (p *ExecPolicy) setUnreadable(in *Input) error {
	for _, n := range unreadable {
		p.Unreadable = append(p.Unreadable, filepath.Join(in.Home, filepath.FromSlash(n)))
	}
	for _, n := range stateStores {
		p.Unreadable = append(p.Unreadable, filepath.Join(in.StateDir, n))
	}
	p.Unreadable = append(p.Unreadable, in.Unreadable...)
	for _, d := range in.DenyRead {
		path := expand(d, in)
		if path == "" || within(in.Root, path) {
			return fmt.Errorf("%w: sandbox.denyRead: %q is or contains the root; no command could start", ErrPolicy, d)
		}
		p.Unreadable = append(p.Unreadable, path)
	}
	p.Unreadable = unique(p.Unreadable)
	for _, u := range p.Unreadable {
		if within(in.Root, u) {
			return fmt.Errorf("%w: root %q lies inside %q, which commands may not read; move the project", ErrPolicy, in.Root, u)
		}
	}
	return nil
}

// expand resolves a settings path: "~/" is the home folder, relative starts at the
// root.
func expand(path string, in *Input) string {
	switch {
	case path == "":
		return ""
	case path == "~":
		return in.Home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(in.Home, path[2:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(in.Root, path)
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	if dir == "" || path == "" {
		return false
	}
	if path == dir || dir == string(filepath.Separator) {
		return true
	}
	return len(path) > len(dir) && strings.HasPrefix(path, dir) && os.IsPathSeparator(path[len(dir)])
}

func anyWithin(dirs []string, paths ...string) bool {
	for _, d := range dirs {
		for _, p := range paths {
			if within(p, d) {
				return true
			}
		}
	}
	return false
}

// unique drops repeated entries and keeps the order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	out := list[:0:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
