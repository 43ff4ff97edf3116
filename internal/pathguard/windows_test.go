package pathguard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWindowsPath(t *testing.T) {
	for in, want := range map[string]string{
		`c:\Users\u\x.ts`: "C:/Users/u/x.ts", `C:/a/../b`: "C:/a/../b", `\\?\C:\a`: "C:/a", `\??\c:\a`: "C:/a",
		`C:\a\.env.`: "C:/a/.env", `C:\a\.env. . `: "C:/a/.env", `C:\.git \config`: "C:/.git/config", `C:\`: "C:/", `C:`: "C:/",
		`C:\a\.\b`: "C:/a/./b", `C:\a\com.txt`: "C:/a/com.txt", `C:\a\nully`: "C:/a/nully", `C:\a\GIT~1`: "C:/a/GIT~1",
	} {
		got, err := windowsPath(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for in, want := range map[string]error{
		`C:\a\.env::$DATA`: errStream, `C:\a\.git:x`: errStream, `C:\a\x:stream:$DATA`: errStream, `C:\.git::$INDEX_ALLOCATION\config`: errStream,
		`\\.\PhysicalDrive0`: errDevice, `\\?\GLOBALROOT\Device`: errDevice, `\\?\Volume{1}\a`: errDevice, `C:\a\NUL`: errDevice, `C:\a\con.txt`: errDevice,
		`C:\a\COM1 .log`: errDevice, `C:\COM¹`: errDevice, `C:\lpt9`: errDevice, `C:\conin$`: errDevice, `C:\a\...`: errDevice, `C:\a\ \b`: errDevice,
		`\\server\share\x`: errShare, `//server/share`: errShare, `\\?\UNC\server\share`: errShare, `C:name`: errDriveRel, `name`: errDevice, ``: errDevice,
	} {
		got, err := windowsPath(in)
		assert.ErrorIs(t, err, want, "%s → %s", in, got)
	}
}

func TestWindowsJoin(t *testing.T) {
	for _, c := range []struct{ cwd, text, want string }{
		{"", "", "C:/root"},
		{"", `src\a.ts`, "C:/root/src/a.ts"},
		{"src", `..\b`, "C:/root/src/../b"},
		{`D:\w`, "x", "D:/w/x"},
		{`D:\w`, `\x`, "D:/x"},
		{"", `/Windows/x`, "C:/Windows/x"},
		{"", `d:\x`, "D:/x"},
		{"", `.git.\config`, "C:/root/.git/config"},
	} {
		got, err := windowsJoin("C:/root", c.cwd, c.text)
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, got)
	}
	for _, text := range []string{`D:x`, `a:b`, `x\NUL`, `\\srv\x`, `.env::$DATA`} {
		_, err := windowsJoin("C:/root", "", text)
		assert.Error(t, err, text)
	}
}

func TestLooksShort(t *testing.T) {
	for name, want := range map[string]bool{"GIT~1": true, "PROGRA~1": true, "ENV~12.LOC": true, "~1": false, "a~b": false, "plain": false, "a-very-long-name~1.txt": false} {
		assert.Equal(t, want, looksShort(name), name)
	}
}
