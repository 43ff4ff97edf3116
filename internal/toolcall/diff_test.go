package toolcall

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestParseDiffPaths(t *testing.T) {
	for _, c := range []struct {
		name, diff string
		want       []string
	}{
		{"empty", "", []string{}},
		{"no header", "@@ -1 +1 @@\n-a\n+b\n", []string{}},
		{"prose", "please change a/b to c\n", []string{}},
		{"both sides null", "--- /dev/null\n+++ /dev/null\n", []string{}},
		{"null with a time", "--- /dev/null\t1970-01-01\n+++ b/x\t2024-01-01\n", []string{"x"}},
		{"deleted", "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", []string{"gone"}},
		{"crlf", "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", []string{"x"}},
		{"no prefix", "--- x/y\n+++ x/z\n", []string{"x/y", "x/z"}},
		{"rename", "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", []string{"old", "new"}},
		{"rename keeps folder a", "rename from a/x\nrename to b/y\n", []string{"a/x", "b/y"}},
		{"copy", "diff --git a/x b/y\ncopy from x\ncopy to y\n", []string{"x", "y"}},
		{"mode only", "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n", []string{"run.sh"}},
		{"blanks", "diff --git a/my file b/my file\nnew mode 100755\n", []string{"my file"}},
		{"blanks and b/", "diff --git a/x b/y b/x b/y\n", []string{"x b/y"}},
		{"blanks in a rename", "diff --git a/x y b/z w\n", []string{"x y", "z w"}},
		{"no prefix in git", "diff --git x.go x.go\n", []string{"x.go"}},
		{"ambiguous", "diff --git a/p b/q b/r\n", []string{"p", "q b/r", "p b/q", "r"}},
		{"quoted", `--- "a/f\303\266 \"o\\\t.txt"` + "\n" + `+++ "b/f\303\266 \"o\\\t.txt"` + "\t2024\n", []string{"fö \"o\\\t.txt"}},
		{"quoted git line", `diff --git "a/\303\251" "b/\303\251"` + "\n", []string{"é"}},
		{"half quoted git line", `diff --git a/x "b/\303\251"` + "\n", []string{"x", "é"}},
		{"bad quotes", `--- "a/\9x` + "\n", []string{`"a/\9x`}},
		{"quoted null", "--- \"/dev/null\"\n+++ b/x\n", []string{"x"}},
		{"twice", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n", []string{"x"}},
		{"climbs", "--- a/../../etc/passwd\n+++ /etc/shadow\n", []string{"../../etc/passwd", "/etc/shadow"}},
		{"indented", "  --- a/x\n  +++ b/x\n  @@ -1 +1 @@\n", []string{"x"}},
		{"no end of line", "--- a/x\n+++ b/x", []string{"x"}},
		{
			"look-alikes in a hunk are content",
			"--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n line\n--- old comment\n+++ new comment\n last\n@@ -9 +9 @@\n-a\n+b\n",
			[]string{"q.sql"},
		},
		{
			"look-alikes of git lines in a hunk are content",
			"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n diff --git a/p b/p\n rename from p\n-a\n+b\n",
			[]string{"x"},
		},
		{
			"a hunk that is longer than it says",
			"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"x", "y"},
		},
		{
			"a hunk that is shorter than it says hides nothing",
			"--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"x", "y"},
		},
		{
			"nor does one at the end of the text",
			"--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n+b\n--- a/y\n+++ b/y\n",
			[]string{"x", "y"},
		},
		{
			"nor one that ends exactly before the next hunk",
			"--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"x", "y"},
		},
		{
			"a hunk without counts",
			"--- a/x\n+++ b/x\n@@ func f() @@\n-a\n--- a/y\n+++ b/y\n",
			[]string{"x", "y"},
		},
		{
			"counts that are no numbers",
			"--- a/x\n+++ b/x\n@@ -1,99999999999999999999 +1 @@\n--- a/y\n",
			[]string{"x", "y"},
		},
		{
			"no newline at the end",
			"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n--- a/y\n+++ b/y\n",
			[]string{"x", "y"},
		},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, ParseDiffPaths(c.diff)) })
	}
}

func TestDiffUnclear(t *testing.T) {
	for diff, want := range map[string]bool{
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n":                              false,
		"Index: x\n=====\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n":                 false,
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nIndex: y\n@@ -1 +1 @@\n-a\n+b": true,
		"@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n":                              true,
	} {
		var files diffFiles
		files.unified(diff)
		assert.Equal(t, want, files.unclear, diff)
	}
}

func TestParsePatchPaths(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		want        []string
	}{
		{"no frame", "*** Add File: x\n", []string{}},
		{"all headers", "*** Begin Patch\n*** Add File: a b\n+x\n*** Update File: c\n*** Move to: d\n@@ def\n-x\n+y\n*** Delete File: /e\n*** End Patch\n", []string{"a b", "c", "d", "/e"}},
		{"content is no header", "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n-*** Add File: c\n*** End Patch", []string{"a"}},
		{"blanks and line ends", "*** Begin Patch\r\n  *** Update File:   a  \r\n*** Delete File:b\r\n*** End Patch\r\n", []string{"a", "b"}},
		{"no end", "*** Begin Patch\n*** Add File: a\n", []string{"a"}},
		{"two frames", "*** Begin Patch\n*** Add File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n*** End Patch\n", []string{"a", "b"}},
		{"end inside", "*** Begin Patch\n*** Add File: a\n+*** End Patch\n*** Delete File: b\n*** End Patch\n", []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, ParsePatchPaths(c.patch)) })
	}
}

// TestDiffTime: reading a diff takes linear time.
func TestDiffTime(t *testing.T) {
	start := time.Now()
	for _, part := range []string{
		"--- a/x\n", "@@ -1,99999 +1,99999 @@\n--- a/y\n", "Index: x\n", "diff --git " + strings.Repeat("a b/", 400) + "\n",
		"*** Begin Patch\n", "*** Begin Patch\n*** Update File: x\n", "\"\\", "--- \"a\\303\\\n",
	} {
		text := strings.Repeat(part, (2<<20)/len(part))
		ParseDiffPaths(text)
		ParsePatchPaths(text)
	}
	assert.Less(t, time.Since(start), 10*time.Second)
}
