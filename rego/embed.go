// Package rego carries lictor's policy: the Rego modules of the chain and its
// helpers, and the table of tools. It has no behaviour; internal/eval compiles
// the modules, internal/toolcall reads the table.
package rego

import (
	"embed"
	"io/fs"
	"path"
)

// Tools is the tool table (tools.json): which tool has which targets, and which
// tools only read.
//
//go:embed tools.json
var Tools []byte

// modules holds the Rego tree. Tests live in policy_test/, so nothing that is
// embedded has to be left out.
//
//go:embed lictor
var modules embed.FS

// Modules returns the text of every Rego module by its path below this folder
// ("lictor/verdict.rego"). The map is fresh on every call. It fails only if the
// program was built wrongly.
func Modules() (map[string]string, error) {
	texts := make(map[string]string)
	err := fs.WalkDir(modules, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".rego" {
			return err
		}
		text, err := modules.ReadFile(name)
		texts[name] = string(text)
		return err
	})
	return texts, err
}
