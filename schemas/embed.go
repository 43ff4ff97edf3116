// Package schemas holds lictor's JSON Schemas (draft 2020-12) as files, so that
// editors, other programs and lictor itself read the same contract.
package schemas

import (
	"embed"
	"fmt"
)

// Files holds every schema by its file name ("settings.json", "policy.json").
//
//go:embed *.json
var Files embed.FS

// Read returns the text of the schema with the given file name ("settings.json").
// The error names a schema that does not exist.
func Read(name string) ([]byte, error) {
	text, err := Files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("no schema %q: %w", name, err)
	}
	return text, nil
}
