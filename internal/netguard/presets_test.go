package netguard

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPresets(t *testing.T) {
	for name, row := range map[string]struct {
		files   map[string]string
		env     []string
		entries []string
		want    string // hosts, "!" marks what may be non-public
		notes   []string
	}{
		"nothing configured": {
			entries: []string{"npm", "go", "pypi", "maven", "cargo", "github"},
			want: "npm.default.test goproxy.default.test gosum.default.test pypi.org files.pythonhosted.org repo.maven.apache.org repo1.maven.org index.crates.io static.crates.io crates.io " +
				"github.com api.github.com codeload.github.com raw.githubusercontent.com objects.githubusercontent.com release-assets.githubusercontent.com media.githubusercontent.com",
		},
		"hosts":           {entries: []string{" API.Example.com. ", "*.Example.org", "localhost", "bücher.de", "api.example.com"}, want: "!api.example.com *.example.org !localhost !xn--bcher-kva.de"},
		"npm registry":    {files: map[string]string{".npmrc": "; comment\nregistry = \"https://user:pw@npm.corp.test:443/npm/\"\n//npm.corp.test/:_authToken=s3cret\n"}, entries: []string{"npm"}, want: "!npm.corp.test"},
		"npm scopes":      {files: map[string]string{".npmrc": "@corp:registry=https://scope.corp.test\n@corp:other=https://x.test\nhttps-proxy=http://proxy.corp.test:3128\nproxy=http://proxy.corp.test\n"}, entries: []string{"npm"}, want: "npm.default.test !scope.corp.test"},
		"npm mirrors":     {files: map[string]string{".npmrc": "electron_mirror=https://mirror.corp.test/e/\nsass_binary_site=https://sass.corp.test\ndisturl=https://dist.corp.test\nhomepage=https://no.test\n"}, entries: []string{"npm"}, want: "npm.default.test !mirror.corp.test !sass.corp.test !dist.corp.test"},
		"npm variables":   {files: map[string]string{".npmrc": "registry=https://${NPM_HOST}/x\n@a:registry=https://${UNSET}/\n@b:registry=https://${UNSET-b.test}/\n"}, env: []string{"NPM_HOST=npm.corp.test"}, entries: []string{"npm"}, want: "!npm.corp.test !b.test", notes: []string{"@a:registry in ~/.npmrc: names a variable that is not set: left out"}},
		"npm environment": {files: map[string]string{".npmrc": "registry=https://file.test\n"}, env: []string{"NPM_CONFIG_REGISTRY=https://env.test"}, entries: []string{"npm"}, want: "!env.test"},
		"npm below npm":   {files: map[string]string{".npmrc": "registry=https://file.test\n"}, env: []string{"npm_config_registry=https://project.test", "YARN_REGISTRY=https://project.test", "npm_execpath=/usr/bin/npm"}, entries: []string{"npm"}, want: "!file.test"},
		"npm user file":   {files: map[string]string{"other/rc": "registry=https://other.test\n", ".npmrc": "registry=https://file.test\n"}, env: []string{"NPM_CONFIG_USERCONFIG=<home>/other/rc"}, entries: []string{"npm"}, want: "!other.test"},
		"npm global file": {files: map[string]string{"system/usr/etc/npmrc": "registry=https://global.test\n@x:registry=https://x.test\n", ".npmrc": "@x:registry=https://mine.test\n"}, entries: []string{"npm"}, want: "!global.test !mine.test"},
		"npm prefix":      {files: map[string]string{"pre/etc/npmrc": "registry=https://prefix.test\n", ".npmrc": "prefix=~/pre\n"}, entries: []string{"npm"}, want: "!prefix.test"},
		"pnpm":            {files: map[string]string{".config/pnpm/rc": "registry=https://pnpm.test\n"}, entries: []string{"npm"}, want: "!pnpm.test"},
		"npm address":     {files: map[string]string{".npmrc": "registry=http://10.0.0.5:8081/\n"}, entries: []string{"npm"}, want: "", notes: []string{"registry in ~/.npmrc: left out: the proxy takes host names, not the address 10.0.0.5", "registry in ~/.npmrc: port 8081 is closed: only ports 80 and 443 are open"}},
		"npm port":        {files: map[string]string{".npmrc": "registry=http://nexus.corp.test:8081/\n"}, entries: []string{"npm"}, want: "!nexus.corp.test", notes: []string{"registry in ~/.npmrc: port 8081 is closed: only ports 80 and 443 are open"}},
		"npm nonsense":    {files: map[string]string{".npmrc": "registry=git+ssh://secret:pw@x.test/\n[section]\n@a:registry=https://a.test\n"}, entries: []string{"npm"}, want: "", notes: []string{"registry in ~/.npmrc: no http address: left out"}},
		"yarn classic":    {files: map[string]string{".yarnrc": "# c\nregistry \"https://yarn.test/\"\n\"@s:registry\" \"https://scope.test\"\nlastUpdateCheck 1\n"}, entries: []string{"npm"}, want: "npm.default.test !yarn.test !scope.test"},
		"yarn berry":      {files: map[string]string{".yarnrc.yml": "npmRegistryServer: \"https://berry.test\"\nnpmScopes:\n  b: {npmRegistryServer: 'https://b.test'}\n  a:\n    npmAuthToken: x\n    npmRegistryServer: ${HOST:-https://a.test}\n"}, entries: []string{"npm"}, want: "npm.default.test !berry.test !a.test !b.test"},
		"go environment":  {files: map[string]string{".config/go/env": "GOPROXY=https://file.test\n"}, env: []string{"GOPROXY=https://a.test|goproxy.test,direct", "GOSUMDB=off"}, entries: []string{"go"}, want: "!a.test !goproxy.test"},
		"go user file":    {files: map[string]string{".config/go/env": "# c\nGOPROXY=https://u:p@goproxy.test/x,https://goproxy.default.test,direct\nGOSUMDB=sum.corp.test+abc+AA==\nGOPRIVATE=git.corp.test/*,*.corp.test,corp*.test,example\n"}, entries: []string{"go"}, want: "!goproxy.test !goproxy.default.test !sum.corp.test !git.corp.test *.corp.test", notes: []string{"GOPRIVATE in ~/.config/go/env: a pattern that is no host: left out"}},
		"go sum address":  {env: []string{"GOSUMDB=gosum.default.test https://sum.corp.test"}, entries: []string{"go"}, want: "goproxy.default.test !sum.corp.test"},
		"go env file off": {files: map[string]string{".config/go/env": "GOPROXY=https://file.test\n"}, env: []string{"GOENV=off"}, entries: []string{"go"}, want: "goproxy.default.test gosum.default.test"},
		"go installation": {files: map[string]string{"system/usr/local/go/go.env": "GOPROXY=https://goproxy.default.test,direct\nGOSUMDB=gosum.default.test\n"}, entries: []string{"go"}, want: "goproxy.default.test gosum.default.test"},
		"go distribution": {files: map[string]string{"system/usr/lib/go/go.env": "GOPROXY=https://distro.test\n"}, entries: []string{"go"}, want: "distro.test gosum.default.test"},
		"go noproxy":      {env: []string{"GOPRIVATE=a.test", "GONOPROXY=none"}, entries: []string{"go"}, want: "goproxy.default.test gosum.default.test"},
		"pip":             {files: map[string]string{".config/pip/pip.conf": "[global]\nindex_url: https://u:p@pip.test/simple\nextra-index-url =\n    https://one.test/s\n    https://two.test/s\n\n[install]\nfind-links = /srv/wheels\n  https://links.test\nother = https://no.test\n", "system/etc/pip.conf": "[global]\nindex-url=https://etc.test\n"}, entries: []string{"pypi"}, want: "pypi.org files.pythonhosted.org !pip.test !one.test !two.test !links.test !etc.test"},
		"pip, uv":         {files: map[string]string{".config/uv/uv.toml": "index-url = \"https://uv.test\"\n[[index]]\nname = \"x\"\nurl = 'https://index.test' # c\n[pip]\nextra-index-url = [\n  \"https://a.test\", # c\n  'https://b.test',\n]\n"}, env: []string{"PIP_EXTRA_INDEX_URL=https://e1.test https://e2.test", "UV_INDEX=corp=https://uvi.test/s"}, entries: []string{"PyPI"}, want: "pypi.org files.pythonhosted.org !e1.test !e2.test !uvi.test !uv.test !index.test !a.test !b.test"},
		"maven": {
			files: map[string]string{".m2/settings.xml": `<?xml version="1.0"?><settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><mirrors><mirror><id>m</id><url>https://mirror.test/m</url></mirror><mirror><id>b</id><url>http://0.0.0.0/</url><blocked>true</blocked></mirror></mirrors>
<profiles><profile><repositories><repository><id>r</id><url>https://${env.REPO}/r</url></repository></repositories><pluginRepositories><pluginRepository><id>p</id><url>https://${other}/</url></pluginRepository></pluginRepositories></profile></profiles></settings>`},
			env: []string{"REPO=repo.test"}, entries: []string{"maven"}, want: "repo.maven.apache.org repo1.maven.org !mirror.test !repo.test", notes: []string{`plugin repository "p" in ~/.m2/settings.xml: no http address: left out`},
		},
		"cargo":          {files: map[string]string{".cargo/config.toml": "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://mirror.test/i/\"\n[registries]\ncorp = { index = \"https://git.test/i.git\", token = \"x\" }\n[registries.\"a.b\"]\nindex = 'sparse+https://ab.test'\n[http]\nproxy = \"http://proxy.test\"\n[source.v]\ndirectory = \"vendor\"\n"}, env: []string{"CARGO_REGISTRIES_X_INDEX=sparse+https://env.test"}, entries: []string{"cargo"}, want: "index.crates.io static.crates.io crates.io !env.test !mirror.test !git.test !ab.test"},
		"cargo old name": {files: map[string]string{".cargo/config.toml": "[registries.a]\nindex = \"https://new.test\"\n", ".cargo/config": "registries.a.index = \"https://old.test\"\n"}, entries: []string{"cargo"}, want: "index.crates.io static.crates.io crates.io !old.test"},
	} {
		t.Run(name, func(t *testing.T) {
			user := userHome(t, row.files, row.env...)
			for k, v := range user.Env {
				user.Env[k] = strings.ReplaceAll(v, "<home>", user.Home)
			}
			r, err := Resolve(t.Context(), row.entries, user)
			require.NoError(t, err)
			var got []string
			for _, h := range r.Hosts {
				mark := ""
				if h.NonPublic {
					mark = "!"
				}
				got = append(got, mark+h.Pattern)
				assert.NotEmpty(t, h.Source)
				assert.NotEmpty(t, h.Entry)
			}
			assert.Equal(t, row.want, strings.Join(got, " "))
			assert.Equal(t, row.notes, r.Notes)
			text := strings.Join(r.Lines(), "\n")
			for _, secret := range []string{"pw", "s3cret", "u:p"} {
				assert.NotContains(t, text, secret)
			}
			_, err = r.List()
			require.NoError(t, err)
		})
	}
}

func TestResolveErrors(t *testing.T) {
	for name, row := range map[string]struct {
		files   map[string]string
		entries []string
		want    string
	}{
		"unknown preset": {nil, []string{"pip"}, `network.allow: "pip" is neither a preset (cargo, github, go, maven, npm, pypi) nor a host with a dot`},
		"star":           {nil, []string{"*"}, `network.allow: "*" matches nothing`},
		"address":        {nil, []string{"10.0.0.1"}, `network.allow: "10.0.0.1" is an address`},
		"decimal":        {nil, []string{"2130706433"}, "is an address"},
		"IPv6":           {nil, []string{"[::1]"}, "is an address"},
		"URL":            {nil, []string{"https://example.com"}, "network.allow: host pattern"},
		"port":           {nil, []string{"example.com:443"}, "write the host alone, without a port"},
		"empty":          {nil, []string{""}, "network.allow: host pattern"},
		"yaml":           {map[string]string{".yarnrc.yml": "a: [\n"}, []string{"npm"}, "network.allow: preset npm: ~/.yarnrc.yml: "},
		"xml":            {map[string]string{".m2/settings.xml": "<settings><mirrors>"}, []string{"maven"}, "network.allow: preset maven: ~/.m2/settings.xml: "},
		"toml":           {map[string]string{".cargo/config.toml": "\n[a\n"}, []string{"cargo"}, "network.allow: preset cargo: ~/.cargo/config.toml: line 2: "},
		"large":          {map[string]string{".npmrc": strings.Repeat("#", maxConfig+1)}, []string{"npm"}, "network.allow: preset npm: ~/.npmrc: larger than 1 MiB"},
		"folder":         {map[string]string{".npmrc/x": ""}, []string{"npm"}, "network.allow: preset npm: ~/.npmrc: not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(t.Context(), row.entries, userHome(t, row.files))
			require.ErrorContains(t, err, row.want)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Resolve(ctx, []string{"npm"}, userHome(t, nil))
	require.ErrorIs(t, err, context.Canceled)
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		user := userHome(t, map[string]string{".npmrc": "registry=https://a.test"})
		require.NoError(t, os.Chmod(filepath.Join(user.Home, ".npmrc"), 0))
		_, err = Resolve(t.Context(), []string{"npm"}, user)
		require.ErrorContains(t, err, "~/.npmrc: permission denied")
	}
}

func TestResolvedHashAndLines(t *testing.T) {
	user := userHome(t, map[string]string{".npmrc": "registry=https://npm.corp.test\n"})
	resolve := func(entries ...string) Resolved {
		r, err := Resolve(t.Context(), entries, user)
		require.NoError(t, err)
		return r
	}
	one, two := resolve("npm", "a.test", "*.b.test"), resolve("*.b.test", "a.test", "npm")
	assert.NotEqual(t, one.Names(), two.Names())
	assert.Equal(t, one.Hash(), two.Hash(), "the order does not matter")
	assert.NotEqual(t, one.Hash(), resolve("npm", "a.test").Hash())
	open := resolve("pypi")
	open.Hosts[0].NonPublic = true
	assert.NotEqual(t, open.Hash(), resolve("pypi").Hash())
	assert.Equal(t, []string{
		"npm.corp.test  npm, from registry in ~/.npmrc (may be a private address)",
		"a.test         from network.allow (may be a private address)",
		"*.b.test       from network.allow",
	}, one.Lines())
	// What a preset and the user both name is open as the user has it.
	h := resolve("github", "github.com").Hosts[0]
	assert.Equal(t, ListedHost{Pattern: "github.com", Entry: "github.com", Source: SourceSettings, NonPublic: true}, h)
}

func TestPresetCache(t *testing.T) {
	user := userHome(t, nil)
	c := &PresetCache{User: user}
	get := func(entries ...string) []string {
		r, err := c.Resolve(t.Context(), entries)
		require.NoError(t, err)
		return r.Names()
	}
	assert.Equal(t, []string{"npm.default.test"}, get("npm"))
	first := c.last
	get("npm")
	assert.Same(t, first, c.last, "nothing changed, and it was read again")
	// A file that appears, one that changes, one that goes.
	rc := filepath.Join(user.Home, ".npmrc")
	require.NoError(t, os.WriteFile(rc, []byte("registry=https://a.test\n"), 0o600))
	assert.Equal(t, []string{"a.test"}, get("npm"))
	require.NoError(t, os.WriteFile(rc, []byte("registry=https://b.test\n"), 0o600))
	require.NoError(t, os.Chtimes(rc, time.Now(), time.Now().Add(time.Second)))
	assert.Equal(t, []string{"b.test"}, get("npm"))
	assert.Equal(t, []string{"b.test", "c.test"}, get("npm", "c.test"))
	require.NoError(t, os.Remove(rc))
	assert.Equal(t, []string{"npm.default.test"}, get("npm"))
	_, err := c.Resolve(t.Context(), []string{"nope"})
	require.Error(t, err)
	// What a caller does to the result is its own affair.
	r, err := c.Resolve(t.Context(), []string{"npm"})
	require.NoError(t, err)
	r.Hosts[0].Pattern = "evil.test"
	assert.Equal(t, []string{"npm.default.test"}, get("npm"))
}

// Other systems have other places.
func TestPlaces(t *testing.T) {
	for _, row := range []struct{ goos, file, text, entry, want string }{
		{"darwin", "Library/Application Support/go/env", "GOPROXY=https://mac.test\nGOSUMDB=off\n", "go", "mac.test"},
		{"darwin", "Library/Preferences/pnpm/rc", "registry=https://mac.test\n", "npm", "mac.test"},
		{"darwin", "Library/Application Support/pip/pip.conf", "[global]\nindex-url=https://mac.test\n", "pypi", "mac.test"},
		{"windows", "AppData/Roaming/go/env", "GOPROXY=https://win.test\r\nGOSUMDB=off\r\n", "go", "win.test"},
		{"windows", "AppData/Roaming/pip/pip.ini", "[global]\r\nindex-url=https://win.test\r\n", "pypi", "win.test"},
	} {
		user := userHome(t, map[string]string{row.file: row.text})
		user.GOOS = row.goos
		r, err := Resolve(t.Context(), []string{row.entry}, user)
		require.NoError(t, err)
		assert.Contains(t, r.Names(), row.want, "%s %s", row.goos, row.file)
	}
	user, err := CurrentUser()
	require.NoError(t, err)
	assert.NotEmpty(t, user.Home)
}
