package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// rig is a set whose folder holds one signed bundle, team, that denies
// `terraform destroy`.
type rig struct {
	t       *testing.T
	set     *Set
	folder  string
	options Options
	key     *SigningKey
	other   *SigningKey
}

func newRig(t *testing.T) *rig {
	base := t.TempDir()
	r := &rig{t: t, folder: filepath.Join(base, "bundles")}
	keys := filepath.Join(base, "keys")
	require.NoError(t, os.MkdirAll(r.folder, 0o755))
	require.NoError(t, os.MkdirAll(keys, 0o755))
	r.key = r.keygen(base, "release")
	r.other = r.keygen(base, "stranger")
	require.NoError(t, os.Rename(filepath.Join(base, "release.pem"), filepath.Join(keys, "release.pem")))
	r.options = Options{Folders: []string{r.folder}, Keys: []string{keys}, State: filepath.Join(base, "state", "bundles.json")}
	r.set = NewSet(r.options)
	r.put("team", r.signed(r.good(5), r.key))
	require.NoError(t, r.set.Reload(context.Background()))
	r.decides()
	return r
}

func (r *rig) keygen(dir, id string) *SigningKey {
	private, _, err := Keygen(dir, id, "")
	require.NoError(r.t, err)
	key, err := ReadSigningKey(private, id)
	require.NoError(r.t, err)
	return key
}

// good are the files of a bundle without fault.
func (r *rig) good(serial int) files {
	return files{
		manifestFile: []byte(`{
  "revision": "r` + string(rune('0'+serial)) + `",
  "roots": ["lictor/managed/team"],
  "metadata": {"serial": ` + string(rune('0'+serial)) + `}
}
`),
		"team.rego": []byte(goodModule),
	}
}

const goodModule = `package lictor.managed.team

import rego.v2

import data.lictor.lib

# METADATA
# title: No terraform destroy
# description: Infrastructure stays.
# custom:
#   programs: [terraform]
deny contains {"id": "no-destroy", "reason": "infrastructure stays"} if {
	some command in lib.commands
	lib.command_runs(command, "terraform", {"destroy"})
}

_examples["no-destroy"] := {"bad": ["terraform destroy"], "good": ["terraform plan"]}
`

func (r *rig) signed(f files, key *SigningKey) files {
	text, err := sign(f, key)
	require.NoError(r.t, err)
	f = f.without(func(string) bool { return false })
	f[signaturesFile] = text
	return f
}

// put writes a bundle into the folder.
func (r *rig) put(name string, f files) {
	dir := filepath.Join(r.folder, name)
	require.NoError(r.t, os.RemoveAll(dir))
	for file, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(file))
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(r.t, os.WriteFile(path, text, 0o644))
	}
}

// decides makes sure that the good bundle decides.
func (r *rig) decides() {
	r.t.Helper()
	found, err := r.set.Evaluate(context.Background(), command("terraform destroy", "terraform", "destroy"))
	require.NoError(r.t, err)
	require.Len(r.t, found.Deny, 1)
	assert.Equal(r.t, Finding{Bundle: "team", Revision: "r5", Source: filepath.Join(r.folder, "team"), ID: "no-destroy", Reason: "infrastructure stays"}, found.Deny[0])
	assert.Len(r.t, found.Consulted, 2)
}

// command is the input of a simple command.
func command(text string, words ...string) *model.Input {
	return &model.Input{Tool: "bash", Class: "Bash", Mode: model.ModeBuild, Isolation: model.IsolationNone, Root: "/w", Home: "/home/user", Targets: []model.Target{{
		Kind: model.KindCommand,
		Command: &model.Command{
			Source: text, Dialect: "bash", Grade: model.GradeStatic, Lines: []string{text},
			Parts:  []model.Part{{Text: text, Canonical: text, Flat: text, Program: words[0], Args: words[1:], Inner: []model.Simple{}}},
			Writes: []string{}, Reads: []string{}, Hosts: []string{},
		},
	}}}
}

// rule puts another rule below those of the good module, at line 19.
func rule(text string) func(files) {
	return func(f files) { f["team.rego"] = []byte(goodModule + "\n" + text + "\n") }
}

const metadata19 = "# METADATA\n# title: T\n# description: D\n"

func replaceIn(name, old, new string) func(files) {
	return func(f files) { f[name] = []byte(strings.Replace(string(f[name]), old, new, 1)) }
}

func addFile(name, text string) func(files) {
	return func(f files) { f[name] = []byte(text) }
}

// TestBrokenBundles puts broken bundles into the place of a good one. Each must
// be refused with the place, and the good one must go on deciding.
func TestBrokenBundles(t *testing.T) {
	for name, c := range map[string]struct {
		change func(files)
		want   []string
	}{
		// Ways in which a policy silently does nothing.
		"boolean deny":             {rule(`deny if input.tool == "x"`), []string{"team.rego:19: rule deny: it must be a set of findings"}},
		"complete deny":            {rule(metadata19 + `deny := "no" if input.tool == "x"`), []string{"team.rego:22: rule deny: it must be a set of findings"}},
		"string finding":           {rule(metadata19 + `deny contains "no" if input.tool == "x"`), []string{"team.rego:22: rule deny: a finding is an object"}},
		"typo":                     {rule(metadata19 + `denny contains {"id": "a", "reason": "b"}`), []string{"team.rego:22: rule denny: unknown public rule", "did you mean deny?"}},
		"public helper":            {rule(`helper := 1`), []string{"team.rego:19: rule helper: unknown public rule", "starts with _"}},
		"package too deep":         {replaceIn("team.rego", "package lictor.managed.team", "package lictor.managed.team.deep"), []string{"team.rego:1: package lictor.managed.team.deep; want exactly package lictor.managed.team"}},
		"partial object":           {rule(`deny["x"] := false`), []string{"team.rego:19: rule deny: it must be a set of findings"}},
		"function":                 {rule(`deny(x) if x`), []string{"team.rego:19: rule deny"}},
		"legacy not":               {replaceIn("team.rego", "import rego.v2\n", ""), []string{"team.rego:1: `import rego.v2` is missing"}},
		"misspelt field":           {rule("_x if input.tol == 1"), []string{"team.rego:19: rule _x: rego_type_error: undefined ref: input.tol"}},
		"misspelt library":         {rule("_x if lib.comands"), []string{"team.rego:19: rule _x: it reads data.lictor.lib.comands, which does not exist"}},
		"no rule at all":           {func(f files) { f["team.rego"] = []byte("package lictor.managed.team\n\nimport rego.v2\n") }, []string{".manifest: the bundle says nothing"}},
		"example not found":        {replaceIn("team.rego", `"bad": [`, `"bad": ["terraform apply", `), []string{`team.rego:12: the bad example "terraform apply" of no-destroy: no rule is about it`}},
		"good example is found":    {replaceIn("team.rego", `"good": [`, `"good": ["terraform destroy", `), []string{`team.rego:12: the good example "terraform destroy" of no-destroy: has the finding`}},
		"routed away":              {replaceIn("team.rego", `programs: [terraform]`, `programs: [tofu]`), []string{"no rule is about it"}},
		"denies everything":        {rule(metadata19 + `deny contains {"id": "all", "reason": "no"}`), []string{"team.rego:22: rule deny: it denies the command `true`"}},
		"fails on a plain call":    {rule(metadata19 + `deny contains {"id": "a", "reason": "b"} if to_number(input.tool) == 1`), []string{"it fails on the command `true`"}},
		"depends on deny":          {rule(metadata19 + `ask contains {"id": "a", "reason": "b"} if count(deny) > 0`), []string{"team.rego:22: rule ask: it reads deny"}},
		"misspelt helper":          {rule("_x if data.lictor.managed.team._y"), []string{"team.rego:19: rule _x: it reads data.lictor.managed.team._y, which does not exist"}},
		"a file that does nothing": {addFile("rules.json", "{}"), []string{"rules.json: a bundle holds"}},
		// The shape of findings.
		"no reason":     {rule(metadata19 + `deny contains {"id": "a"} if input.tool == "x"`), []string{`team.rego:22: rule deny: the finding has no "reason"`}},
		"number id":     {rule(metadata19 + `deny contains {"id": 1, "reason": "b"} if input.tool == "x"`), []string{`team.rego:22: rule deny: the finding's "id" is 1`}},
		"extra key":     {rule(metadata19 + `deny contains {"id": "a", "reason": "b", "level": "c"} if input.tool == "x"`), []string{`team.rego:22: rule deny: the finding has the key "level"`}},
		"untyped value": {rule(metadata19 + `deny contains {"id": "a", "reason": input.args.x} if input.tool == "x"`), []string{"team.rego:22: rule deny: its type is set[object<id: string, reason: any>]"}},
		"variable head": {rule(metadata19 + "deny contains x if {\n\tsome x in input.targets\n}"), []string{"team.rego:22: rule deny: its type is"}},
		// METADATA.
		"no metadata":    {rule(`ask contains {"id": "a", "reason": "b"} if input.tool == "x"`), []string{"team.rego:19: rule ask: no METADATA"}},
		"no description": {rule("# METADATA\n# title: T\n" + `ask contains {"id": "a", "reason": "b"} if input.tool == "x"`), []string{"team.rego:21: rule ask: METADATA has no description"}},
		"unknown key":    {replaceIn("team.rego", "programs:", "program:"), []string{"team.rego:12: rule deny: METADATA custom.program is unknown"}},
		"unknown kind":   {replaceIn("team.rego", "programs: [terraform]", "kinds: [cmd]"), []string{`team.rego:12: rule deny: METADATA custom.kinds: "cmd"`}},
		"no list":        {replaceIn("team.rego", "programs: [terraform]", "programs: terraform"), []string{"want a list of texts"}},
		// What a bundle must not reach.
		"http.send":              {rule(`_x := http.send({"method": "get", "url": "https://example.com"})`), []string{"team.rego:19: rule _x: rego_type_error: undefined function http.send", "not on the list"}},
		"opa.runtime":            {rule(`_x := opa.runtime()`), []string{"team.rego:19: rule _x", "opa.runtime"}},
		"the clock":              {rule(`_x := time.now_ns()`), []string{"team.rego:19", "time.now_ns"}},
		"unbounded work":         {rule(`_x := bits.lsh(1, 100000000)`), []string{"team.rego:19", "bits.lsh"}},
		"remote schema":          {rule("# METADATA\n# title: T\n# description: D\n# schemas:\n#   - input: {\"$ref\": \"http://127.0.0.1:1/x.json\"}\n" + `ask contains {"id": "a", "reason": "b"} if input.tool == "x"`), []string{"team.rego:", "127.0.0.1"}},
		"the verdict":            {rule(`_x := data.lictor.verdict`), []string{"team.rego:19: rule _x: it reads data.lictor.verdict"}},
		"other data":             {rule(`_x := data.secrets`), []string{"team.rego:19: rule _x: it reads data.secrets"}},
		"all data":               {rule(`_x := data[_]`), []string{"team.rego:19: rule _x", "data[_]"}},
		"another bundle":         {rule(`_x := data.lictor.managed.other.deny`), []string{"team.rego:19: rule _x: it reads data.lictor.managed.other"}},
		"import of another":      {replaceIn("team.rego", "import data.lictor.lib", "import data.lictor.lib\nimport data.lictor.chain"), []string{"team.rego:6: import data.lictor.chain is refused"}},
		"examples of another id": {replaceIn("team.rego", `_examples["no-destroy"]`, `_examples["no-destory"]`), []string{`the bad example "terraform destroy" of no-destory: no rule gives a finding of this id`}},
		"with":                   {rule("_x if {\n\tdeny with input as {}\n}"), []string{"team.rego:20: rule _x: `with` is refused"}},
		// Manifest and roots.
		"no root":            {replaceIn(manifestFile, "\n  \"roots\": [\"lictor/managed/team\"],", ""), []string{".manifest: roots must be exactly"}},
		"foreign root":       {replaceIn(manifestFile, "lictor/managed/team", "lictor/chain"), []string{`.manifest:3: roots must be exactly ["lictor/managed/<name>"], not "lictor/chain"`}},
		"root system":        {replaceIn(manifestFile, `["lictor/managed/team"]`, `["system"]`), []string{`.manifest:3`, `"system"`}},
		"two roots":          {replaceIn(manifestFile, `"lictor/managed/team"`, `"lictor/managed/team", "system"`), []string{".manifest:3: roots must be exactly", "there are 2"}},
		"deep root":          {replaceIn(manifestFile, `lictor/managed/team`, `lictor/managed/team/x`), []string{".manifest:3"}},
		"package of lictor":  {replaceIn("team.rego", "package lictor.managed.team", "package lictor"), []string{"team.rego:1: package lictor; want exactly"}},
		"no revision":        {replaceIn(manifestFile, `"revision": "r6"`, `"revision": ""`), []string{".manifest:2: revision is missing"}},
		"a serial in quotes": {replaceIn(manifestFile, `"serial": 6`, `"serial": "6"`), []string{".manifest:4: metadata.serial must be a whole number, not string"}},
		"no serial":          {replaceIn(manifestFile, `"serial": 6`, ``), []string{".manifest:4: metadata.serial is missing"}},
		"unknown manifest":   {replaceIn(manifestFile, `"revision"`, `"revison"`), []string{`.manifest:2: unknown field "revison"`}},
		"key given twice":    {replaceIn(manifestFile, `"revision"`, `"Roots": [""], "revision"`), []string{`.manifest:3: the key "roots" is there twice`}},
		"rego_version 0":     {replaceIn(manifestFile, `"revision"`, `"rego_version": 0, "revision"`), []string{".manifest:2: rego_version 0 is refused"}},
		"versions of files":  {replaceIn(manifestFile, `"revision"`, `"file_rego_versions": {"team.rego": 0}, "revision"`), []string{".manifest:2: file_rego_versions is refused"}},
		"built-in name": {func(f files) {
			replaceIn(manifestFile, "managed/team", "managed/baseline")(f)
			replaceIn("team.rego", "managed.team", "managed.baseline")(f)
		}, []string{`.manifest: the name "baseline" is taken by built-in baseline`}},
		// Formats that hide something.
		"wasm":              {addFile("policy.wasm", "\x00asm"), []string{"policy.wasm: compiled policy is refused"}},
		"plan":              {addFile("plan.json", "{}"), []string{"plan.json: a query plan is refused"}},
		"delta":             {addFile("patch.json", `{"data": []}`), []string{"patch.json"}},
		"YAML data":         {addFile("data.yaml", "a: 1"), []string{"data.yaml: data in YAML is refused"}},
		"deny as data":      {addFile("lictor/managed/team/data.json", `{"ask": [{"id": "a", "reason": "b"}]}`), []string{`lictor/managed/team/data.json:1: data "ask" is refused`}},
		"foreign data":      {addFile("data.json", `{"system": {"log": {}}}`), []string{"data.json", "do not permit data"}},
		"data and rule":     {addFile("lictor/managed/team/data.json", `{"_examples": {}}`), []string{"a rule has the same name"}},
		"second manifest":   {addFile("x/.manifest", `{}`), []string{".manifest"}},
		"test with rules":   {addFile("x_test.rego", "package lictor.managed.team\n\nimport rego.v2\n\ndeny contains 1\n"), []string{"x_test.rego:1: package lictor.managed.team; want exactly package lictor.managed.team.test"}},
		"large file":        {addFile("big.rego", strings.Repeat("#\n", maxFileSize)), []string{"big.rego: more than"}},
		"syntax":            {rule("deny contains {"), []string{"team.rego:20: rego_parse_error"}},
		"policy":            {rule(`policy := {"denyPath": []}`), []string{"team.rego:19: rule policy: the policy document does not fit its schema", "denyPath"}},
		"policy of calls":   {rule(`policy := {"askFirst": true} if input.tool == "x"`), []string{"team.rego:19: rule policy: it reads input; it must not depend on the call"}},
		"policy of no call": {rule("policy := {\"denyPaths\": _paths}\n\n_paths := [path | path := _path]\n\n_path := input.root"), []string{"team.rego:19: rule policy: it reads input"}},
		"policy else":       {rule(`policy := {} if input.tool == "x" else := {"askFirst": true}`), []string{"team.rego:19: rule policy: it reads input"}},
		"policy undefined":  {rule(`policy := {"askFirst": true} if 1 > 2`), []string{"team.rego:19: rule policy: it has no value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			f := r.good(6)
			c.change(f)
			r.put("team", r.signed(f, r.key))
			r.refused(c.want...)
			// The same unsigned: no check hangs on the signature.
			delete(f, signaturesFile)
			_, err := load(context.Background(), "unsigned", f, LoadOptions{AllowUnsigned: true})
			if name != "no serial" && name != "built-in name" && err == nil {
				t.Log("only refused by its trial, its name or its signature")
			}
		})
	}
}

// refused reloads and expects a refusal that says all of want and leaves the
// good bundle in charge.
func (r *rig) refused(want ...string) {
	r.t.Helper()
	err := r.set.Reload(context.Background())
	require.Error(r.t, err)
	for _, text := range want {
		assert.Contains(r.t, err.Error(), text)
	}
	assert.Contains(r.t, err.Error(), r.folder)
	r.decides()
}

// TestBrokenSignatures are the ways to bring a bundle past its signature.
func TestBrokenSignatures(t *testing.T) {
	tests := map[string]func(r *rig) (want string){
		"tampered": func(r *rig) string {
			f := r.signed(r.good(6), r.key)
			f["team.rego"] = append(f["team.rego"], "\n# more\n"...)
			r.put("team", f)
			return ".signatures.json: team.rego: digest mismatch"
		},
		"tampered manifest": func(r *rig) string {
			f := r.signed(r.good(6), r.key)
			replaceIn(manifestFile, `"serial": 6`, `"serial": 9`)(f)
			r.put("team", f)
			return ".manifest: digest mismatch"
		},
		"stripped": func(r *rig) string {
			r.put("team", r.good(6))
			return "not signed, but this machine has used a signed bundle team (serial 5, key release)"
		},
		"emptied signature": func(r *rig) string {
			f := r.good(6)
			f[signaturesFile] = []byte(`{}`)
			r.put("team", f)
			return ".signatures.json: 0 signatures, want exactly one"
		},
		"extra file": func(r *rig) string {
			f := r.signed(r.good(6), r.key)
			f["more.rego"] = []byte("package lictor.managed.team\n\nimport rego.v2\n")
			r.put("team", f)
			return "file more.rego not included in bundle signature"
		},
		"file taken away": func(r *rig) string {
			f := r.good(6)
			f["more.rego"] = []byte("package lictor.managed.team\n\nimport rego.v2\n")
			f = r.signed(f, r.key)
			delete(f, "more.rego")
			r.put("team", f)
			return "more.rego"
		},
		"unknown key": func(r *rig) string {
			r.put("team", r.signed(r.good(6), r.other))
			return `signed with the key "stranger", which is not in the keys folder (known: release); if it is to be trusted, its public half belongs into ` + filepath.Join(r.options.Keys[0], "stranger.pem")
		},
		"another key by the same name": func(r *rig) string {
			forged := *r.other
			forged.ID = "release"
			r.put("team", r.signed(r.good(6), &forged))
			return "failed to verify JWT signature"
		},
		"another scope": func(r *rig) string {
			f := r.good(6)
			text, err := sign(f, r.key)
			require.NoError(r.t, err)
			token, err := r.key.token(map[string]any{"files": []any{}, "scope": "other"})
			require.NoError(r.t, err)
			_ = text
			f[signaturesFile] = []byte(`{"signatures": ["` + token + `"]}`)
			r.put("team", f)
			return "scope mismatch"
		},
		"old serial": func(r *rig) string {
			r.put("team", r.signed(r.good(4), r.key))
			return ".manifest: serial 4 is older than 5"
		},
		"same serial, other content": func(r *rig) string {
			f := r.good(5)
			rule("# a note")(f)
			r.put("team", r.signed(f, r.key))
			return ".manifest: serial 5 was used already by another content"
		},
		"not signed in strict": func(r *rig) string {
			o := r.options
			o.Strict = true
			f := r.good(1)
			replaceIn(manifestFile, "managed/team", "managed/mine")(f)
			replaceIn("team.rego", "managed.team", "managed.mine")(f)
			r.put("mine", f)
			r.set.options = o
			return "the strict profile takes signed bundles only"
		},
		"not signed where others write": func(r *rig) string {
			f := r.good(1)
			replaceIn(manifestFile, "managed/team", "managed/mine")(f)
			replaceIn("team.rego", "managed.team", "managed.mine")(f)
			r.put("mine", f)
			require.NoError(r.t, os.Chmod(filepath.Join(r.folder, "mine", "team.rego"), 0o666))
			return "others can write it"
		},
		"a link": func(r *rig) string {
			require.NoError(r.t, os.Symlink(filepath.Join(r.folder, "team"), filepath.Join(r.folder, "again")))
			return "is a link"
		},
		"a link inside": func(r *rig) string {
			require.NoError(r.t, os.Symlink("team.rego", filepath.Join(r.folder, "team", "again.rego")))
			return "again.rego: is a link"
		},
		"the same name twice": func(r *rig) string {
			r.put("again", r.signed(r.good(5), r.key))
			return `the name "team" is taken by`
		},
		"something else in the folder": func(r *rig) string {
			require.NoError(r.t, os.Mkdir(filepath.Join(r.folder, "rules"), 0o755))
			return "neither a folder with .manifest nor a .tar.gz file"
		},
		"rules without a manifest": func(r *rig) string {
			require.NoError(r.t, os.WriteFile(filepath.Join(r.folder, "team.rego"), []byte("package x\n"), 0o644))
			return "there is no .manifest beside it"
		},
		"a key among the bundles": func(r *rig) string {
			require.NoError(r.t, os.WriteFile(filepath.Join(r.folder, "release.pem"), []byte("x"), 0o644))
			return "a public key belongs into the machine's keys folder"
		},
		"a broken state file": func(r *rig) string {
			require.NoError(r.t, os.WriteFile(r.options.State, []byte(`{"version": 1, "bundles": {"team": {"serial": 1`), 0o600))
			r.put("team", r.signed(r.good(6), r.key))
			return "the record of bundle serials is broken"
		},
		"a private key among the keys": func(r *rig) string {
			_, _, err := Keygen(r.options.Keys[0], "more", "")
			require.NoError(r.t, err)
			return "this is a private key"
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			want := change(r)
			err := r.set.Reload(context.Background())
			require.ErrorContains(t, err, want)
			found, err := r.set.Evaluate(context.Background(), command("terraform destroy", "terraform", "destroy"))
			require.NoError(t, err)
			require.Len(t, found.Deny, 1)
			assert.Equal(t, "no-destroy", found.Deny[0].ID)
		})
	}
}

// TestBrokenAtRunTime are bundles that pass every check and fail on a call.
func TestBrokenAtRunTime(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"conflict":      {"_x := 1 if input.tool == \"bash\"\n\n_x := 2 if input.cwd == \"/boom\"\n" + metadata19 + `deny contains {"id": "a", "reason": "b"} if _x == 7`, "conflict"},
		"builtin error": {metadata19 + "deny contains {\"id\": \"a\", \"reason\": \"b\"} if {\n\tinput.cwd == \"/boom\"\n\tto_number(input.cwd) == 1\n}", "builtin"},
		"empty reason":  {metadata19 + "deny contains {\"id\": \"a\", \"reason\": concat(\"\", [])} if input.cwd == \"/boom\"", "result"},
		"endless work": {"_n := [" + strings.Repeat("1, ", 300) + "1]\n" + metadata19 +
			"ask contains {\"id\": \"a\", \"reason\": \"b\"} if {\n\tinput.cwd == \"/boom\"\n\tsum([1 | some a in _n; some b in _n; some c in _n; some d in _n; a + b + c + d == 9]) == 3\n}", "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			f := r.good(6)
			replaceIn(manifestFile, "managed/team", "managed/bad")(f)
			f["team.rego"] = []byte(strings.Replace(goodModule, "managed.team", "managed.bad", 1) + "\n" + c.text + "\n")
			r.put("bad", r.signed(f, r.key))
			require.NoError(t, r.set.Reload(context.Background()))

			call := command("terraform destroy", "terraform", "destroy")
			call.Cwd = "/boom"
			found, err := r.set.Evaluate(context.Background(), call)
			require.NoError(t, err)
			require.Len(t, found.Deny, 2)
			assert.Equal(t, "bad", found.Deny[0].Bundle)
			assert.Equal(t, KindError, found.Deny[0].Kind)
			assert.Equal(t, "no-destroy", found.Deny[1].ID, "another bundle still decides")
			assert.Equal(t, Consulted{Bundle: "bad", Revision: "r6", Asked: true, Error: found.Consulted[1].Error}, found.Consulted[1])
			assert.EqualValues(t, c.want, found.Consulted[1].Error)
			assert.True(t, found.Facts().Has(model.FactManagedDeny))
		})
	}
}
