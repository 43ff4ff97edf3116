package pathguard

import (
	"path/filepath"
	"testing"
)

// benchPaths are the shapes that the budget speaks of: the whole check of a
// path costs at most 1.5 times filepath.EvalSymlinks of the same path.
var benchPaths = []struct{ name, path string }{
	{"top", "README.md"},
	{"deep", "src/a/b/c/d/e.ts"},
	{"link", "in/e.ts"},
	{"abs-link", "abs/e.ts"},
	{"link-dotdot", "in/../d/e.ts"},
	{"dotdot", "src/a/../a/b/c/d/e.ts"},
	{"outside", "../out/x/y.ts"},
}

func benchTree(b *testing.B) (*Guard, string) {
	base := realTemp(b)
	root := base + "/work/project"
	tree(b, root, "README.md", "src/a/b/c/d/e.ts", "in -> src/a/b/c/d", "abs -> "+root+"/src/a/b/c/d")
	tree(b, root, "d/e.ts")
	tree(b, base, "work/out/x/y.ts")
	return newGuard(b, root, WithFold(false)), root
}

func BenchmarkResolve(b *testing.B) {
	g, root := benchTree(b)
	for _, c := range benchPaths {
		b.Run(c.name+"/guard", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := g.Resolve(c.path, "")
				if err != nil || Sensitive(p.Rel, false) || Protected(p.Rel, false) || Sensitive(p.RealRel, false) || Protected(p.RealRel, false) {
					b.Fatal(p, err)
				}
			}
		})
		b.Run(c.name+"/evalsymlinks", func(b *testing.B) {
			full := root + "/" + c.path // not cleaned: the same question
			b.ReportAllocs()
			for b.Loop() {
				if _, err := filepath.EvalSymlinks(full); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSensitive(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if Sensitive("src/a/b/c/d/e.ts", false) || Protected("src/a/b/c/d/e.ts", false) {
			b.Fatal()
		}
	}
}
