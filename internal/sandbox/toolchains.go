package sandbox

import (
	"path/filepath"
	"strings"
)

// toolchain is one row of the table: how to see that a toolchain is in use, which
// caches it writes to, and which variables it reads.
type toolchain struct {
	name string
	// markers are file names of the root; a trailing "*" is a prefix, a leading one
	// a suffix.
	markers []string
	// caches are relative to the home folder. A variable of the same row that is set
	// to an absolute path adds that path instead.
	caches []string
	// cacheVars name folders to write to; vars are passed on.
	cacheVars, vars []string
}

// table has a row per toolchain (SPEC section 8). Folders from which a toolchain
// starts programs (~/go/bin, ~/.cargo/bin) are not in it.
var table = []toolchain{
	{
		"go",
		[]string{"go.mod", "go.work"},
		[]string{"go/pkg", ".cache/go-build"},
		[]string{"GOCACHE", "GOMODCACHE", "GOTMPDIR"},
		[]string{"GOPATH", "GOROOT", "GOFLAGS", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN", "GOOS", "GOARCH", "CGO_ENABLED", "GOWORK", "GOEXPERIMENT"},
	},
	{
		"node",
		[]string{"package.json", "deno.json", "bun.lockb"},
		[]string{".npm", ".cache/yarn", ".yarn/berry", ".local/share/pnpm", ".pnpm-store", ".bun/install/cache", ".cache/deno"},
		[]string{"npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER", "DENO_DIR"},
		[]string{"NVM_DIR", "NODE_PATH", "PNPM_HOME", "VOLTA_HOME", "FNM_DIR", "BUN_INSTALL", "NODE_EXTRA_CA_CERTS"},
	},
	{
		"python",
		[]string{"pyproject.toml", "setup.py", "setup.cfg", "requirements*", "Pipfile", "tox.ini", "*.py"},
		[]string{".cache/pip", ".cache/uv", ".cache/pypoetry", ".local/share/uv", ".local/share/virtualenvs"},
		[]string{"PIP_CACHE_DIR", "UV_CACHE_DIR", "POETRY_CACHE_DIR", "PYTHONPYCACHEPREFIX"},
		[]string{"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"},
	},
	{
		"rust",
		[]string{"Cargo.toml"},
		[]string{".cargo/registry", ".cargo/git", ".cargo/.package-cache", ".cargo/.global-cache"},
		[]string{"CARGO_TARGET_DIR"},
		[]string{"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"},
	},
	{"maven", []string{"pom.xml"}, []string{".m2/repository"}, nil, []string{"JAVA_HOME", "M2_HOME", "MAVEN_HOME", "MAVEN_OPTS"}},
	{
		"gradle",
		[]string{"build.gradle*", "settings.gradle*", "gradlew"},
		[]string{".gradle"},
		[]string{"GRADLE_USER_HOME"},
		[]string{"JAVA_HOME", "GRADLE_OPTS", "ANDROID_HOME", "ANDROID_SDK_ROOT"},
	},
	{
		"dotnet",
		[]string{"*.csproj", "*.fsproj", "*.sln", "*.slnx", "global.json"},
		[]string{".nuget/packages", ".local/share/NuGet", ".dotnet"},
		[]string{"NUGET_PACKAGES"},
		[]string{"DOTNET_ROOT", "DOTNET_CLI_HOME", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO"},
	},
	{
		"ruby",
		[]string{"Gemfile", "*.gemspec"},
		[]string{".bundle/cache", ".gem", ".local/share/gem"},
		nil,
		[]string{"GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "RBENV_ROOT", "RBENV_VERSION", "RUBYOPT"},
	},
}

// toolchains is what the detected rows of the table add to a policy.
type toolchains struct{ write, create, env []string }

// detect finds the toolchains in use: a marker in the root, a cache that exists, or
// a cache variable that is set. Caches of a toolchain whose marker is there are
// created when missing, or its first run could not work.
func detect(in *Input) toolchains {
	var t toolchains
	env := lookup(in.Environ)
	for _, row := range table {
		marked := hasMarker(in, row.markers)
		found := marked
		for _, c := range row.caches {
			path := filepath.Join(in.Home, filepath.FromSlash(c))
			switch {
			case marked && len(t.create) < 64 && !strings.HasPrefix(filepath.Base(path), ".package-") && !strings.HasPrefix(filepath.Base(path), ".global-"):
				t.create = append(t.create, path)
				t.write = append(t.write, path)
			case in.Exists(path):
				found = true
				t.write = append(t.write, path)
			}
		}
		for _, v := range row.cacheVars {
			if dir := env[v]; filepath.IsAbs(dir) && !within(in.Home, filepath.Clean(dir)) {
				found = true
				t.write = append(t.write, filepath.Clean(dir))
				t.env = append(t.env, v)
			}
		}
		if row.name == "go" {
			for _, dir := range filepath.SplitList(env["GOPATH"]) {
				if filepath.IsAbs(dir) {
					t.write = append(t.write, filepath.Join(dir, "pkg"))
				}
			}
		}
		if found {
			t.env = append(t.env, row.vars...)
		}
	}
	t.write, t.create, t.env = unique(t.write), unique(t.create), unique(t.env)
	return t
}

func hasMarker(in *Input, markers []string) bool {
	for _, m := range markers {
		if !strings.Contains(m, "*") {
			if in.Exists(filepath.Join(in.Root, m)) {
				return true
			}
			continue
		}
		// A bad pattern cannot be: the table is ours.
		if found, _ := filepath.Glob(filepath.Join(globQuote(in.Root), m)); len(found) > 0 {
			return true
		}
	}
	return false
}

// globQuote makes the root's own characters literal in a glob.
func globQuote(s string) string {
	if filepath.Separator == '\\' {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func lookup(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			m[k] = v
		}
	}
	return m
}
