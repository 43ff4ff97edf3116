package toolcall

import (
	"strings"
	"testing"
)

func BenchmarkDecode(b *testing.B) {
	table := builtin(b)
	for _, c := range []struct{ name, tool, args string }{
		{"bash", "Bash", `{"command":"go test ./... 2>&1 | tail -20","description":"Run the tests","timeout":120000,"run_in_background":false}`},
		{"read_file", "Read", `{"file_path":"/repo/internal/toolcall/decode.go","offset":1,"limit":200}`},
		{"edit", "Edit", `{"file_path":"/repo/a.go","old_string":"` + strings.Repeat("x", 2000) + `","new_string":"` + strings.Repeat("y", 2000) + `"}`},
		{"git", "git", `{"args":["commit","-m","a message"]}`},
		{"grep", "Grep", `{"pattern":"TODO","path":"src","glob":"*.go","output_mode":"content","-i":true}`},
		{"mcp", "mcp__github__create_issue", `{"title":"t","body":"b","labels":["x"]}`},
		{"apply_patch", "apply_patch", `{"command":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := call(c.tool, c.args)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := table.Decode(call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStrict(b *testing.B) {
	text := []byte(`{"content":"` + strings.Repeat(`line of text with \"quotes\"\n`, 4000) + `"}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Strict(text); err != nil {
			b.Fatal(err)
		}
	}
}
