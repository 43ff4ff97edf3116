package pathguard

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Nothing that is shown can move the cursor or hide, and what is shown once
// stays the same.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"a/b", "a\nb", "\x1b[0m", "\u202e", `a\b`, "\xff", "\U000e0001", "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Escape(s)
		require.True(t, utf8.ValidString(out))
		require.True(t, plainText(out), "%q", out)
		require.Equal(t, out, Escape(out))
		if plainText(s) {
			require.Equal(t, s, out)
		}
	})
}

// A pattern without literal text names nothing, whatever it is made of.
func FuzzNames(f *testing.F) {
	for _, s := range [][2]string{{".env.*", ".env.local"}, {"{a,b}/**", ".ssh/x"}, {"[a-z]*", "id_rsa"}, {"{{{", "x"}, {"a{,}b", ".env"}, {`\{a`, ".pem"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, rel string) {
		if len(pattern) > 256 || len(rel) > 256 {
			return
		}
		SensitiveFolder(pattern)
		if Names(pattern, rel) {
			require.GreaterOrEqual(t, literals(FoldName(pattern)), 2)
		}
		wild := strings.Map(func(r rune) rune {
			if strings.ContainsRune("*?/.{},-_", r) {
				return r
			}
			return -1
		}, pattern)
		require.False(t, Names(wild, rel), wild)
	})
}

// The one form of a Windows path is stable and holds no second spelling.
func FuzzWindowsPath(f *testing.F) {
	for _, s := range []string{`C:\a\b`, `\\?\C:\a.`, `c:/x/../y`, `C:\a::$DATA`, `C:\nul.txt`, `\\s\s`, "C:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := windowsPath(s)
		if err != nil {
			return
		}
		again, err := windowsPath(p)
		require.NoError(t, err, "%q", p)
		require.Equal(t, p, again)
		require.NotContains(t, p[2:], ":")
		require.NotContains(t, p, `\`)
		for _, seg := range strings.Split(p[3:], "/") {
			require.False(t, isDevice(seg), p)
			require.True(t, seg == "." || seg == ".." || strings.TrimRight(seg, ". ") == seg, "%q", p)
		}
	})
}
