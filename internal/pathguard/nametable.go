package pathguard

import "strings"

// nameRow is one line of a table of file names. Why is for the reader and for
// `lictor explain`.
//
// Grammar of Pattern, read at any depth unless it begins with "/":
//
//	name        a file or folder of this name
//	pre*suf     one "*" in the last segment
//	dir/name    the name in a folder of that name (more folders: a/b/name)
//	dir/**      everything below a folder of that name
type nameRow struct {
	Pattern string
	Why     string
}

// compiledRow is a row split for matching.
type compiledRow struct {
	nameRow
	// prefix and suffix are the last segment around its "*"; for an exact name,
	// suffix is empty and exact is true.
	prefix, suffix string
	exact          bool
	// below marks "dir/**"; prefix is then the folder's name.
	below bool
	// parent is the text that must precede: "a/b/" or "".
	parent   string
	anchored bool
}

// nameTables is one table in both of its forms: for file systems that tell
// letter case apart and for those that do not.
type nameTables struct{ exact, folded *nameTable }

// newNameTables compiles rows. self says that a row "dir/**" matches the folder
// itself too.
func newNameTables(self bool, rows []nameRow) nameTables {
	return nameTables{exact: newNameTable(self, false, rows), folded: newNameTable(self, true, rows)}
}

// match reports whether a row matches the path.
func (t nameTables) match(rel string, fold bool) bool {
	table := t.exact
	if fold {
		table, rel = t.folded, FoldName(rel)
	}
	found := false
	table.each(rel, func(*compiledRow) bool {
		found = true
		return false
	})
	return found
}

// nameTable answers whether a path matches one of many rows. A look-up is a map
// access per segment plus the few rows with a "*"; it does not allocate.
type nameTable struct {
	self    bool
	files   map[string][]compiledRow
	folders map[string][]compiledRow
	globs   []compiledRow
}

func newNameTable(self, fold bool, rows []nameRow) *nameTable {
	t := &nameTable{self: self, files: map[string][]compiledRow{}, folders: map[string][]compiledRow{}}
	for _, r := range rows {
		c := compiledRow{nameRow: r}
		p := r.Pattern
		if fold {
			p = FoldName(p)
		}
		p, c.below = strings.CutSuffix(p, "/**")
		p, c.anchored = strings.CutPrefix(p, "/")
		i := strings.LastIndexByte(p, '/') + 1
		c.parent = p[:i]
		var star bool
		c.prefix, c.suffix, star = strings.Cut(p[i:], "*")
		c.exact = !star
		switch {
		case c.below:
			t.folders[c.prefix] = append(t.folders[c.prefix], c)
		case c.exact:
			t.files[c.prefix] = append(t.files[c.prefix], c)
		default:
			t.globs = append(t.globs, c)
		}
	}
	return t
}

// each calls yield for every row that matches the path (folded if the table is),
// until yield returns false.
func (t *nameTable) each(rel string, yield func(*compiledRow) bool) {
	rel = strings.TrimRight(rel, "/")
	for start := 0; ; {
		end := strings.IndexByte(rel[start:], '/')
		last := end < 0
		if last {
			end = len(rel) - start
		}
		name, head := rel[start:start+end], rel[:start]
		if !last || t.self {
			if !yieldRows(t.folders[name], head, yield) {
				return
			}
		}
		if last {
			t.eachFile(name, head, yield)
			return
		}
		start += end + 1
	}
}

// eachFile calls yield for the rows that match the last segment.
func (t *nameTable) eachFile(name, head string, yield func(*compiledRow) bool) {
	if !yieldRows(t.files[name], head, yield) {
		return
	}
	for i := range t.globs {
		c := &t.globs[i]
		if len(name) >= len(c.prefix)+len(c.suffix) && strings.HasPrefix(name, c.prefix) &&
			strings.HasSuffix(name, c.suffix) && c.after(head) && !yield(c) {
			return
		}
	}
}

// yieldRows calls yield for the rows whose parents end head.
func yieldRows(rows []compiledRow, head string, yield func(*compiledRow) bool) bool {
	for i := range rows {
		if rows[i].after(head) && !yield(&rows[i]) {
			return false
		}
	}
	return true
}

// after reports whether head ("x/y/", "/x/" or "") ends with the row's parents.
func (c *compiledRow) after(head string) bool {
	if c.anchored {
		if onWindows && hasDrive(head) {
			head = head[2:]
		}
		return len(head) == len(c.parent)+1 && head[0] == '/' && head[1:] == c.parent
	}
	if !strings.HasSuffix(head, c.parent) {
		return false
	}
	rest := len(head) - len(c.parent)
	return c.parent == "" || rest == 0 || head[rest-1] == '/'
}
