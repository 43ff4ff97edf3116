package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindRoot(t *testing.T) {
	top := realTemp(t)
	home := filepath.Join(top, "home", "u")
	for _, dir := range []string{
		"home/u/.git", "home/u/.lictor", // a dotfiles repository is no project
		"home/u/repo/.git", "home/u/repo/sub/deep", "home/u/loose/deep",
		"home/u/tree/sub", "home/u/both/.git", "home/u/both/inner/.lictor", "home/u/both/inner/x",
		"srv/app/.git/modules", "srv/app/vendor/lib/.git",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	write(t, filepath.Join(home, "tree", ".git"), "gitdir: ../repo/.git/worktrees/tree\n")
	write(t, filepath.Join(home, "file"), "")
	link := filepath.Join(top, "srv", "home-link")
	require.NoError(t, os.Symlink(home, link))

	at := func(rel string) string { return filepath.Join(top, filepath.FromSlash(rel)) }
	for _, c := range []struct {
		name, flag, agent, cwd string
		want, fault            string
	}{
		{name: "nearest .git", cwd: at("home/u/repo/sub/deep"), want: at("home/u/repo")},
		{name: "the folder itself", cwd: at("home/u/repo"), want: at("home/u/repo")},
		{name: ".git is a file in a worktree", cwd: at("home/u/tree/sub"), want: at("home/u/tree")},
		{name: ".lictor nearer than .git", cwd: at("home/u/both/inner/x"), want: at("home/u/both/inner")},
		{name: "nested repository is nearer", cwd: at("srv/app/vendor/lib"), want: at("srv/app/vendor/lib")},
		{name: "home's own markers do not count", cwd: at("home/u/loose/deep"), fault: "no project found"},
		{name: "home itself", cwd: home, fault: "no project found"},
		{name: "above home", cwd: at("home"), fault: "no project found"},
		{name: "the filesystem's root", cwd: "/", fault: "no project found"},
		{name: "agent's folder wins over cwd", agent: at("home/u/loose"), cwd: at("home/u/repo"), want: at("home/u/loose")},
		{name: "flag wins over both", flag: at("srv/app"), agent: at("home/u/loose"), cwd: at("home/u/repo"), want: at("srv/app")},
		{name: "relative flag starts at cwd", flag: "../repo/./sub", cwd: at("home/u/loose"), want: at("home/u/repo/sub")},
		{name: "flag is home", flag: home, cwd: at("srv/app"), fault: "the home folder, which is never a root"},
		{name: "flag is a link to home", flag: link, cwd: at("srv/app"), fault: "the home folder"},
		{name: "flag is above home", flag: at("home"), cwd: at("srv/app"), fault: "a folder above the home folder"},
		{name: "flag is /", flag: "/", cwd: at("srv/app"), fault: "root of the filesystem"},
		{name: "flag hides / behind dots", flag: at("home") + "/../../../../../../../../..", cwd: at("srv/app"), fault: "--root /"},
		{name: "agent's folder is home", agent: home, cwd: at("srv/app"), fault: "the agent's project folder"},
		{name: "agent's folder is relative", agent: ".", cwd: at("home/u/repo"), fault: "not an absolute path"},
		{name: "flag does not exist", flag: at("nowhere"), cwd: at("srv/app"), fault: "does not exist"},
		{name: "flag is a file", flag: filepath.Join(home, "file"), cwd: at("srv/app"), fault: "is not a folder"},
		{name: "cwd does not exist", cwd: at("gone"), fault: "gone"},
		{name: "cwd is relative", cwd: "x", fault: "not an absolute path"},
		{name: "relative flag and no cwd", flag: "x", cwd: "", fault: "give an absolute path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FindRoot(c.flag, c.agent, c.cwd, home)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestFindRootNeedsAHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		_, err := FindRoot("", "", t.TempDir(), home)
		require.ErrorContains(t, err, "HOME")
	}
}

func TestHomeThroughALinkIsRefusedToo(t *testing.T) {
	top := realTemp(t)
	real := filepath.Join(top, "data", "u")
	require.NoError(t, os.MkdirAll(filepath.Join(real, ".git"), 0o755))
	home := filepath.Join(top, "home")
	require.NoError(t, os.Symlink(real, home))
	for _, dir := range []string{real, filepath.Join(top, "data"), home, top} {
		_, err := FindRoot(dir, "", top, home)
		require.ErrorContains(t, err, "never a root", dir)
	}
}
