package netguard

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"

	"github.com/lictor-policy/lictor/internal/netguard/nettest"
)

// site is a small internet behind a proxy whose list comes from a user's
// configuration.
type site struct {
	*nettest.Internet
	proxy *Proxy
	addr  string
	ca    string // file
	home  string
}

// newSite starts it. files are the user's configuration, entries network.allow.
func newSite(t *testing.T, files map[string]string, entries ...string) *site {
	t.Helper()
	s := &site{Internet: nettest.New(t, http.NotFound)}
	user := userHome(t, files)
	s.home = user.Home
	s.ca = filepath.Join(s.home, "ca.pem")
	require.NoError(t, os.WriteFile(s.ca, s.CA, 0o600))
	resolved, err := Resolve(t.Context(), entries, user)
	require.NoError(t, err)
	list, err := resolved.List()
	require.NoError(t, err)
	policy := &Policy{List: list}
	s.proxy = &Proxy{Decide: policy.Decide, Resolver: names{}, Dialer: s}
	s.addr = testProxy(t, s.proxy)
	return s
}

// run starts a client as a sandboxed command would be: its own home, the proxy's
// variables and nothing else.
func (s *site) run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = WithEnv(append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + t.TempDir(), "LANG=C",
		"SSL_CERT_FILE=" + s.ca, "NODE_EXTRA_CA_CERTS=" + s.ca, "GIT_SSL_CAINFO=" + s.ca, "CURL_CA_BUNDLE=" + s.ca, "PIP_CERT=" + s.ca, "npm_config_cafile=" + s.ca,
	}, env...), "http://"+s.addr)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCurl(t *testing.T) {
	s := newSite(t, nil, "a.site.test", "*.registry.test")
	s.On("a.site.test", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s %d", r.Proto, r.URL, n)
	})
	big := filepath.Join(s.home, "big")
	require.NoError(t, os.WriteFile(big, bytes.Repeat([]byte("x"), 3<<20), 0o600))
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"plain":          {[]string{"http://a.site.test/x?y=1"}, "HTTP/1.1 /x?y=1 0"},
		"TLS, HTTP/1.1":  {[]string{"--http1.1", "https://a.site.test/x"}, "HTTP/1.1 /x 0"},
		"TLS, HTTP/2":    {[]string{"--http2", "https://a.site.test/x"}, "HTTP/2.0 /x 0"},
		"SOCKS5, TLS":    {[]string{"--proxy", "socks5h://" + s.addr, "https://a.site.test/"}, "HTTP/2.0 / 0"},
		"SOCKS5, plain":  {[]string{"--proxy", "socks5h://" + s.addr, "http://a.site.test/"}, "HTTP/1.1 / 0"},
		"tunnel, plain":  {[]string{"--proxytunnel", "http://a.site.test/"}, "HTTP/1.1 / 0"},
		"upload":         {[]string{"-T", big, "http://a.site.test/up"}, "HTTP/1.1 /up 3145728"},
		"upload, TLS":    {[]string{"-T", big, "https://a.site.test/up"}, "HTTP/2.0 /up 3145728"},
		"chunked upload": {[]string{"-H", "Transfer-Encoding: chunked", "-T", big, "http://a.site.test/up"}, "HTTP/1.1 /up 3145728"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := s.run(t, s.home, nil, "curl", append([]string{"-sS", "-f"}, row.args...)...)
			require.NoError(t, err, out)
			assert.Equal(t, row.want, out)
		})
	}
	// Refused, and the person learns why.
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"not listed":     {[]string{"https://evil.site.test/"}, "response 403"},
		"plain, body":    {[]string{"http://evil.site.test/"}, "lictor: blocked evil.site.test:80 (not on the list); allow it with network(evil.site.test)"},
		"address":        {[]string{"https://127.0.0.1/"}, "response 403"},
		"decimal":        {[]string{"http://2130706433/"}, "use a host name, not the address 127.0.0.1"},
		"other port":     {[]string{"http://a.site.test:8080/"}, "only ports 80 and 443 are open"},
		"another name":   {[]string{"--connect-to", "b.registry.test:443:a.site.test:443", "https://b.registry.test/"}, "unrecognized name"},
		"another Host":   {[]string{"-H", "Host: evil.test", "http://a.site.test/"}, `the Host header "evil.test" is for another host`},
		"SOCKS5 address": {[]string{"--proxy", "socks5://" + s.addr, "http://127.0.0.1/"}, "(2)"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := s.run(t, s.home, nil, "curl", append([]string{"-sS"}, row.args...)...)
			assert.Contains(t, out, row.want)
		})
	}
	// What the user's environment says about exceptions does not count.
	out, _ := s.run(t, s.home, []string{"NO_PROXY=*", "no_proxy=.test", "No_Proxy=*"}, "curl", "-sS", "http://evil.site.test/")
	assert.Contains(t, out, "blocked evil.site.test:80")
	report := strings.Join(s.proxy.Report(), "\n")
	assert.Contains(t, report, "blocked: evil.site.test:443 (not on the list); allow it with network(evil.site.test)")
}

func TestGit(t *testing.T) {
	s := newSite(t, nil, "git.site.test")
	repos := t.TempDir()
	git := func(dir string, args ...string) string {
		t.Helper()
		out, err := s.run(t, dir, []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1"}, "git", args...)
		require.NoError(t, err, out)
		return out
	}
	git(repos, "init", "-q", "-b", "main", "work")
	work := filepath.Join(repos, "work")
	require.NoError(t, os.WriteFile(filepath.Join(work, "big"), bytes.Repeat([]byte("line\n"), 100_000), 0o600))
	git(work, "add", ".")
	git(work, "commit", "-q", "-m", "one")
	git(repos, "clone", "-q", "--bare", "work", "r.git")
	git(filepath.Join(repos, "r.git"), "config", "http.receivepack", "true")
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(git(repos, "--exec-path")), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + repos, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + s.home}, InheritEnv: []string{"PATH"}, Logger: nil,
	}
	s.On("git.site.test", backend.ServeHTTP)

	for _, scheme := range []string{"http", "https"} {
		dir := filepath.Join(t.TempDir(), "clone")
		git(s.home, "clone", "-q", scheme+"://git.site.test/r.git", dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, scheme), bytes.Repeat([]byte(scheme), 1<<20), 0o600))
		git(dir, "add", ".")
		git(dir, "commit", "-q", "-m", scheme)
		git(dir, "push", "-q", "origin", "main")
	}
	out, err := s.run(t, s.home, nil, "git", "clone", "https://evil.site.test/r.git", filepath.Join(t.TempDir(), "x"))
	require.Error(t, err)
	assert.Contains(t, out, "403")
}

func TestNPM(t *testing.T) {
	s := newSite(t, map[string]string{".npmrc": "registry=https://npm.registry.test/\naudit=false\nfund=false\nupdate-notifier=false\n"}, "npm")
	pkg := nettest.Tarball(t, map[string]string{"package/package.json": `{"name":"left","version":"1.0.0"}`, "package/index.js": "module.exports = 1\n", "package/data": strings.Repeat("x", 1<<20)})
	s.On("npm.registry.test", nettest.NPM(pkg))
	project := t.TempDir()
	// The project's own registry is on no list.
	require.NoError(t, os.WriteFile(filepath.Join(project, "package.json"), []byte(`{"name":"p","version":"1.0.0","dependencies":{"left":"^1.0.0"}}`), 0o600))
	out, err := s.run(t, project, nil, "npm", "install", "--no-progress")
	require.NoError(t, err, "%s\n%s", out, s.proxy.Report())
	assert.FileExists(t, filepath.Join(project, "node_modules", "left", "index.js"))
	assert.Empty(t, s.proxy.Report())

	require.NoError(t, os.WriteFile(filepath.Join(project, ".npmrc"), []byte("registry=https://evil.registry.test/\nfetch-retries=0\n"), 0o600))
	out, err = s.run(t, project, nil, "npm", "view", "left")
	require.Error(t, err, out)
	assert.Contains(t, strings.Join(s.proxy.Report(), "\n"), "blocked: evil.registry.test:443 (not on the list)")
}

func TestGoModDownload(t *testing.T) {
	const mod, version = "example.test/left", "v1.0.0"
	const goMod = "module example.test/left\n\ngo 1.20\n"
	archive := nettest.Zip(t, map[string]string{mod + "@" + version + "/go.mod": goMod, mod + "@" + version + "/left.go": "package left\n\nconst One = 1\n"})

	secret, public, err := note.GenerateKey(rand.Reader, "sum.registry.test")
	require.NoError(t, err)
	s := newSite(t, map[string]string{".config/go/env": "GOPROXY=https://goproxy.registry.test\nGOSUMDB=" + public + " https://gosum.registry.test\n"}, "go")

	zipFile := filepath.Join(t.TempDir(), "left.zip")
	require.NoError(t, os.WriteFile(zipFile, archive, 0o600))
	zipHash, err := dirhash.HashZip(zipFile, dirhash.Hash1)
	require.NoError(t, err)
	modHash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(goMod)), nil })
	require.NoError(t, err)
	sums := sumdb.NewServer(sumdb.NewTestServer(secret, func(path, vers string) ([]byte, error) {
		if path != mod || vers != version {
			return nil, module.VersionError(module.Version{Path: path, Version: vers}, os.ErrNotExist)
		}
		return fmt.Appendf(nil, "%s %s %s\n%s %s/go.mod %s\n", mod, version, zipHash, mod, version, modHash), nil
	}))
	var asked atomic.Int64
	s.On("gosum.registry.test", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		sums.ServeHTTP(w, r)
	})
	s.On("goproxy.registry.test", nettest.GoProxy(mod, version, goMod, archive))
	project := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "go.mod"), []byte("module p\n\ngo 1.20\n\nrequire example.test/left v1.0.0\n"), 0o600))
	cache := t.TempDir()
	env := []string{"GOMODCACHE=" + cache, "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local"}
	out, err := s.run(t, project, env, "go", "mod", "download")
	require.NoError(t, err, "%s\n%s", out, s.proxy.Report())
	assert.FileExists(t, filepath.Join(cache, "example.test", "left@v1.0.0", "left.go"))
	assert.NotZero(t, asked.Load(), "the checksum database was not asked")
	assert.Empty(t, s.proxy.Report())

	out, err = s.run(t, project, append(env, "GOPROXY=https://evil.registry.test", "GOMODCACHE="+t.TempDir()), "go", "mod", "download")
	require.Error(t, err)
	// The status line says why, in the client's own error.
	assert.Contains(t, out, "Blocked by lictor: evil.registry.test:443 (not on the list)")
}

func TestPip(t *testing.T) {
	s := newSite(t, map[string]string{".config/pip/pip.conf": "[global]\nindex-url = https://pypi.registry.test/simple\n"}, "pypi")
	wheel := nettest.Zip(t, map[string]string{
		"left.py": "one = 1\n", "left-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: left\nVersion: 1.0\n",
		"left-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "left-1.0.dist-info/RECORD": "",
	})
	s.On("pypi.registry.test", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/simple/left/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/f/left-1.0-py3-none-any.whl">left-1.0-py3-none-any.whl</a>`)
		case "/f/left-1.0-py3-none-any.whl":
			_, _ = w.Write(wheel)
		default:
			http.NotFound(w, r)
		}
	})
	if out, err := exec.Command("python3", "-m", "pip", "--version").CombinedOutput(); err != nil {
		t.Skipf("pip is not installed: %s", out)
	}
	dir := t.TempDir()
	out, err := s.run(t, dir, []string{"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_RETRIES=0"}, "python3", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "-d", dir, "left")
	require.NoError(t, err, "%s\n%s", out, s.proxy.Report())
	assert.FileExists(t, filepath.Join(dir, "left-1.0-py3-none-any.whl"))
	assert.Empty(t, s.proxy.Report())
}

func TestCargo(t *testing.T) {
	s := newSite(t, map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+https://cargo.registry.test/index/\"\n"}, "cargo")
	crate := nettest.Tarball(t, map[string]string{"left-1.0.0/Cargo.toml": "[package]\nname = \"left\"\nversion = \"1.0.0\"\n", "left-1.0.0/src/lib.rs": ""})
	s.On("cargo.registry.test", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index/config.json":
			fmt.Fprint(w, `{"dl":"https://cargo.registry.test/dl"}`)
		case "/index/le/ft/left":
			fmt.Fprintf(w, `{"name":"left","vers":"1.0.0","deps":[],"cksum":"%x","features":{},"yanked":false}`+"\n", sha256.Sum256(crate))
		case "/dl/left/1.0.0/download":
			_, _ = w.Write(crate)
		default:
			http.NotFound(w, r)
		}
	})
	project := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(project, "src"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(project, "src", "lib.rs"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(project, "Cargo.toml"), []byte("[package]\nname = \"p\"\nversion = \"0.1.0\"\n[dependencies]\nleft = \"1\"\n"), 0o600))
	// Where rustup is the installer, cargo itself lies in its folder.
	rustup := os.Getenv("RUSTUP_HOME")
	if home, err := os.UserHomeDir(); rustup == "" && err == nil {
		rustup = filepath.Join(home, ".rustup")
	}
	out, err := s.run(t, project, []string{"CARGO_HTTP_CAINFO=" + s.ca, "RUSTUP_HOME=" + rustup, "CARGO_NET_RETRY=0"}, "cargo", "fetch")
	if err != nil && strings.Contains(out, "rustup") {
		t.Skipf("cargo is not usable: %s", out)
	}
	require.NoError(t, err, "%s\n%s", out, s.proxy.Report())
	found, err := filepath.Glob(filepath.Join(s.home, ".cargo", "registry", "cache", "*", "left-1.0.0.crate"))
	require.NoError(t, err)
	assert.Len(t, found, 1)
	assert.Empty(t, s.proxy.Report())
}
