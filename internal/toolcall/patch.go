package toolcall

import "strings"

const (
	patchBegin = "*** Begin Patch"
	patchEnd   = "*** End Patch"
)

// patchHeaders are the lines of the apply_patch format that name files.
var patchHeaders = []struct {
	prefix string
	how    touch
}{
	{"*** Add File:", touchWrite},
	{"*** Update File:", touchWrite},
	{"*** Delete File:", touchDelete},
	{"*** Move to:", touchWrite},
}

// ParsePatchPaths returns the paths of a patch in the `*** Begin Patch` format of
// Codex: added, updated, deleted and moved files, each once, in order. A text
// without that frame gives none.
func ParsePatchPaths(patch string) []string {
	var files diffFiles
	files.patch(patch)
	return files.paths()
}

// patch reads a text in the `*** Begin Patch` format. It returns the text around
// the frame, and whether there is a frame.
func (d *diffFiles) patch(text string) (outside string, found bool) {
	begin := strings.Index(text, patchBegin)
	if begin < 0 {
		return text, false
	}
	before, body := text[:begin], text[begin:]
	after := ""
	if end := strings.LastIndex(body, patchEnd); end >= 0 {
		body, after = body[:end], body[end+len(patchEnd):]
	}
	if !isHeredoc(before) {
		// More than the patch itself happens, such as `cd sub && apply_patch`.
		d.unclear = true
	}
	last := "" // the file of the last Update header
	for line := range strings.SplitSeq(body, "\n") {
		// Content of added lines is no header; readers trim every other line.
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			continue
		}
		line = strings.TrimSpace(line)
		for _, h := range patchHeaders {
			name, ok := strings.CutPrefix(line, h.prefix)
			if !ok {
				continue
			}
			name = strings.TrimSpace(name)
			if name == "" {
				d.unclear = true
			}
			d.add(name, h.how)
			switch h.prefix {
			case "*** Update File:":
				last = name
			case "*** Move to:":
				d.add(last, touchDelete)
			}
		}
	}
	return afterHeredoc(before, after), true
}

// isHeredoc reports whether the text before a patch only hands it to
// apply_patch: nothing, or `apply_patch <<'EOF'`.
func isHeredoc(before string) bool {
	before = strings.TrimSpace(before)
	if before == "" || before == "apply_patch" || before == "applypatch" {
		return true
	}
	_, tag, ok := cutCommand(before)
	return ok && strings.Trim(tag, `'"`) != "" && strings.Trim(tag, "'\"ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz") == ""
}

func cutCommand(before string) (name, tag string, ok bool) {
	name, tag, ok = strings.Cut(before, "<<")
	name = strings.TrimSpace(name)
	return name, strings.TrimSpace(tag), ok && (name == "apply_patch" || name == "applypatch")
}

// afterHeredoc is the text around a patch without the here-document's own words.
func afterHeredoc(before, after string) string {
	_, tag, ok := cutCommand(strings.TrimSpace(before))
	if ok && strings.TrimSpace(after) == strings.Trim(tag, `'"`) {
		return ""
	}
	if ok {
		before = ""
	}
	if before = strings.TrimSpace(before); before == "apply_patch" || before == "applypatch" {
		before = ""
	}
	return strings.TrimSpace(before + "\n" + after)
}
