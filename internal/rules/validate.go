package rules

import (
	"os"

	"github.com/lictor-policy/lictor/internal/model"
)

// Status says how a permission file is.
type Status string

// The states of a file: an error keeps all rules from loading, a warning is
// advice.
const (
	StatusOK      Status = "ok"
	StatusWarning Status = "warning"
	StatusError   Status = "error"
)

// FileReport is what Validate found out about one file.
type FileReport struct {
	Path   string
	Status Status
	// Missing says that there is no such file, which is fine.
	Missing bool
	// Rules counts the rules of the file.
	Rules int
	// Problems are the error, or the warnings, one line each.
	Problems []string
}

// Validate reads every permission file that Load would read and reports on each
// by itself, so that one broken file does not hide the others.
func Validate(root string, opts Options) []FileReport {
	p := LoadEmpty(root, opts)
	var out []FileReport
	var all []model.Rule
	var good []int
	for _, path := range p.files() {
		r := FileReport{Path: path, Status: StatusOK}
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			r.Missing = true
		}
		f, err := loadFile(path)
		if err == nil {
			_, _, err = Compile(f.rules, p.opts.Env)
		}
		if err != nil {
			r.Status, r.Problems = StatusError, []string{err.Error()}
		} else {
			r.Rules = len(f.rules)
			for _, key := range f.unknown {
				r.warn(path + `: the key "` + key + `" of "permissions" is unknown and ignored`)
			}
			for _, key := range f.misplaced {
				r.warn(path + `: "` + key + `" is ignored: move it into the object "permissions"`)
			}
			all = append(all, f.rules...)
			good = append(good, len(out))
		}
		out = append(out, r)
	}
	for _, w := range Lint(all, p.opts.Env) {
		for _, i := range good {
			if out[i].Path == w.Rule.Source {
				out[i].warn(w.String())
			}
		}
	}
	return out
}

func (r *FileReport) warn(text string) {
	r.Status = StatusWarning
	r.Problems = append(r.Problems, text)
}
