package facts

import (
	"io/fs"
	"os"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lictor-policy/lictor/internal/model"
)

const (
	// maxMade is how many folders that the text makes are remembered,
	// maxGlobSegments how many segments of a glob may hold wildcards: a command's
	// text must not make the check search the whole disk.
	maxMade         = 256
	maxGlobSegments = 2
)

// globbed returns the files that a glob finds now, as mentions: `cat .env*` reads
// .env as much as `cat .env` does. As in a shell, a wildcard does not match a
// leading dot, unless dots says that it does. What cannot be searched is mentioned as it is written.
func (x *Context) globbed(f *model.FileUse, cwd string, dots bool, there *search) []model.PathRef {
	if !there.path() {
		return nil
	}
	written := func() []model.PathRef {
		p, known, err := x.locate(f.Value, f.Dir, f.DirKnown, cwd)
		if err != nil || !known {
			return nil
		}
		return []model.PathRef{{Access: f.Access, Path: p, Part: f.Part, Program: f.Program}}
	}
	segments := strings.Split(f.Value, "/")
	first := 0
	for first < len(segments) && !strings.ContainsAny(segments[first], "*?[") {
		first++
	}
	if first == len(segments) || len(segments)-first > maxGlobSegments {
		return written()
	}
	folder, rest := strings.Join(segments[:first], "/"), strings.Join(segments[first:], "/")
	if first > 0 && folder == "" {
		folder = "/"
	}
	base, known, err := x.locate(folder, f.Dir, f.DirKnown, cwd)
	if err != nil || !known {
		return written()
	}
	names, err := doublestar.Glob(there.list(base.Real), strings.ReplaceAll(rest, "**", "*"), doublestar.WithNoFollow())
	if err != nil || len(names) == 0 {
		return written()
	}
	var out []model.PathRef
	for _, name := range names {
		if !dots && hidden(rest, name) {
			continue
		}
		if !there.path() {
			break
		}
		p, err := x.Guard.Resolve(base.Real+"/"+name, cwd)
		if err != nil {
			continue
		}
		p.Text = f.Value
		out = append(out, model.PathRef{Access: f.Access, Path: p, Part: f.Part, Program: f.Program})
	}
	return out
}

// listing is a folder whose folders are read once, however many globs look at them.
type listing struct {
	fs.FS
	there *search
	read  map[string][]fs.DirEntry
}

// list returns a folder for globs.
func (there *search) list(folder string) *listing {
	l := there.listings[folder]
	if l == nil {
		if there.listings == nil {
			there.listings = map[string]*listing{}
		}
		l = &listing{FS: os.DirFS(folder), there: there, read: map[string][]fs.DirEntry{}}
		there.listings[folder] = l
	}
	return l
}

// ReadDir implements fs.ReadDirFS. When too many names were matched, there are
// none any more.
func (l *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	if l.there.over {
		return nil, nil
	}
	entries, known := l.read[name]
	if !known {
		var err error
		if entries, err = fs.ReadDir(l.FS, name); err != nil {
			return nil, err
		}
		l.read[name] = entries
	}
	l.there.names += len(entries) + 1
	l.there.over = l.there.names > maxNames
	return entries, nil
}

// hidden reports whether a shell would leave a name out because a wildcard does
// not match its leading dot.
func hidden(pattern, name string) bool {
	patterns, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range min(len(patterns), len(names)) {
		if strings.HasPrefix(names[i], ".") && !strings.HasPrefix(patterns[i], ".") {
			return true
		}
	}
	return false
}

// place resolves a path target. A path with wildcards or brackets, which a tool
// that searches or reads in bulk expands, also stands for the files that it finds
// now: .e* and [.]env are .env where there is one.
func (x *Context) place(t *model.Target, cwd string) (model.Path, []model.Path, error) {
	text := t.Path.Text
	p, err := x.Guard.Resolve(text, cwd)
	if err != nil || t.Access != model.AccessRead || !strings.ContainsAny(text, "*?[") {
		return p, nil, err
	}
	var found []model.Path
	for _, ref := range x.globbed(&model.FileUse{Value: text, Access: t.Access, DirKnown: true, Part: -1}, cwd, true, &search{}) {
		if ref.Rel != p.Rel {
			found = append(found, ref.Path)
		}
	}
	return p, found, nil
}

// targetsOf makes a target of each path, like the one that found them.
func targetsOf(t *model.Target, paths []model.Path) []model.Target {
	out := make([]model.Target, len(paths))
	for i, p := range paths {
		out[i] = model.Target{Kind: model.KindPath, Access: t.Access, Role: model.RoleSearched, Descriptor: t.Descriptor, Path: p}
	}
	return out
}
