package lictor

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// maxShown is the largest file that a question shows the change of.
const maxShown = 1 << 20

// changes says what a call would make of a file, for the question's diff. It
// knows calls that replace a whole file or one text in it; for others, and for
// files that cannot be shown, the question shows the arguments.
func changes(s *state, c *factsCall) []model.Change {
	if len(c.Input.Targets) != 1 {
		return nil
	}
	t := &c.Input.Targets[0]
	if t.Kind != model.KindPath || t.Access != model.AccessWrite {
		return nil
	}
	var args struct {
		Content    *string `json:"content"`
		FileText   *string `json:"file_text"`
		Old        *string `json:"old_string"`
		New        *string `json:"new_string"`
		ReplaceAll bool    `json:"replace_all"`
	}
	if json.Unmarshal(c.Input.Args, &args) != nil {
		return nil
	}
	old, err := readShown(t.Real)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil
	}
	change := model.Change{Path: s.facts.Guard.Display(t.Path)}
	if !missing {
		change.Old = &old
	}
	switch {
	case args.Content != nil:
		change.New = *args.Content
	case args.FileText != nil:
		change.New = *args.FileText
	case args.Old != nil && args.New != nil && !missing && *args.Old != "" && strings.Contains(old, *args.Old):
		n := 1
		if args.ReplaceAll {
			n = -1
		}
		change.New = strings.Replace(old, *args.Old, *args.New, n)
	default:
		return nil
	}
	return []model.Change{change}
}

// readShown reads a regular file that is short enough to be shown.
func readShown(name string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxShown {
		return "", fs.ErrInvalid
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxShown))
	return string(data), err
}
