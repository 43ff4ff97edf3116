package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPluginGolden: the plugin names the command and the host's timeout, and is
// lictor's own file.
func TestPluginGolden(t *testing.T) {
	o := options(t)
	c, err := Install("opencode", Project, o)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(o.Root, ".opencode", "plugins", "lictor.js"), c.File)
	text := string(c.After)
	assert.Contains(t, text, `const command = ["/usr/local/bin/lictor", "hook", "opencode"]`)
	assert.Contains(t, text, "const limit = 10000\nconst tell = false\n")
	assert.True(t, strings.HasPrefix(text, pluginMark))
	assert.NotContains(t, text, "__")
	s, err := Status("opencode", Project, o)
	require.NoError(t, err)
	assert.True(t, s.Installed)
	assert.Equal(t, "/usr/local/bin/lictor", s.Program)
	c, err = Uninstall("opencode", Project, o)
	require.NoError(t, err)
	assert.True(t, c.Removed)
	assert.NoFileExists(t, c.File)
}

// TestPluginThrows runs the plugin, where there is a runtime for it, against
// programs that answer in every wrong way: it must throw for each but the yes.
func TestPluginThrows(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Log("no node here: the plugin's text is checked by its golden alone")
		return
	}
	dir := t.TempDir()
	for i, c := range []struct{ program, want string }{
		{`echo '{"decision":"allow"}'`, "ran ls"},
		{`cat >/dev/null; echo '{"decision":"allow","args":{"command":"boxed"}}'`, "ran boxed"},
		{`echo '{"decision":"deny","reason":"lictor: why"}'`, "threw lictor: why"},
		{`echo '{"decision":"deny","reason":"lictor: why"}'; exit 2`, "threw lictor: why"},
		{`echo '{"decision":"ALLOW"}'`, "threw lictor: denied"},
		{`echo '{}'`, "threw lictor: denied"},
		{`echo null`, "threw lictor: gave no answer"},
		{`echo yes`, "threw lictor: gave no answer (exit code 0)"},
		{`exit 0`, "threw lictor: gave no answer (exit code 0)"},
		{`echo boom >&2; exit 3`, "threw lictor: boom"},
		// A yes of a program that failed is none.
		{`echo '{"decision":"allow"}'; exit 1`, "threw lictor: failed with exit code 1"},
		{`kill -9 $$`, "threw lictor: gave no answer"},
		{`exec sleep 30`, "threw lictor: no decision within 700 ms"},
		{"", "threw lictor: could not be run"},
	} {
		program := filepath.Join(dir, fmt.Sprintf("lictor-%d", i))
		if c.program != "" {
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+c.program+"\n"), 0o755))
		}
		o := options(t)
		o.Command = []string{program, "hook"}
		change, err := Install("opencode", User, o)
		require.NoError(t, err)
		plugin := filepath.Join(dir, fmt.Sprintf("plugin-%d.mjs", i))
		text := strings.Replace(string(change.After), "const limit = 10000", "const limit = 700", 1)
		require.NoError(t, os.WriteFile(plugin, []byte(text), 0o600))
		run := `import { Lictor } from ` + quoteJSON("file://"+plugin) + `
const hooks = await Lictor({ directory: "/p/sub", worktree: "/p" })
await hooks["chat.message"]({ sessionID: "s", agent: "plan" }, {})
const output = { args: { command: "ls" } }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
  console.log("ran " + output.args.command)
} catch (e) { console.log("threw " + e.message) }`
		out, err := exec.Command(node, "--input-type=module", "-e", run).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), c.want, c.program)
	}
}
