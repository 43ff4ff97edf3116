package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// InitSettings looks at the files in root and returns the text of a first
// settings file for it, with comments, and what was found, one line each. It
// writes nothing. The text is what schemas/settings.json describes.
func InitSettings(root string) (text []byte, explanation []string, err error) {
	found, explanation, err := detect(root)
	if err != nil {
		return nil, nil, err
	}
	allow := slices.Clone(anyProject.Allow)
	var presets []string
	for _, kind := range found {
		allow = append(allow, kind.allow...)
		if kind.network != "" && !slices.Contains(presets, kind.network) {
			presets = append(presets, kind.network)
		}
	}
	network := "Hosts that sandboxed commands may reach: npm, pypi, maven, go, cargo, github, or host names. Empty: no network."
	if len(presets) > 0 {
		network += " To let this project's tools download: " + strings.Join(presets, ", ") + "."
		explanation = append(explanation, "network: none is allowed; for downloads add "+strings.Join(presets, ", ")+" to network.allow")
	}
	type permissions struct {
		Comment []string `json:"$comment"`
		Allow   []string `json:"allow"`
		Ask     []string `json:"ask"`
		Deny    []string `json:"deny"`
	}
	type list struct {
		Comment string   `json:"$comment"`
		Allow   []string `json:"allow"`
	}
	type sandbox struct {
		Comment    string   `json:"$comment"`
		WritePaths []string `json:"writePaths"`
		DenyRead   []string `json:"denyRead"`
	}
	text, err = marshalReadable(struct {
		Comment     []string    `json:"$comment"`
		Executor    string      `json:"executor"`
		Permissions permissions `json:"permissions"`
		Sandbox     sandbox     `json:"sandbox"`
		Network     list        `json:"network"`
	}{
		Comment: []string{
			"Settings of lictor for this project. JSON has no comments: \"$comment\" keys are ignored.",
			"Whatever loosens safety applies on a machine only after its user has accepted it (`lictor trust accept`).",
		},
		Executor: DefaultExecutor,
		Permissions: permissions{
			Comment: []string{
				"Rules are tool or tool(pattern); * is any text. deny outranks allow, allow outranks ask.",
				"A command is allowed only if every part of it is covered. Tests and builds run the project's own code.",
			},
			Allow: allow, Ask: anyProject.Ask, Deny: anyProject.Deny,
		},
		Sandbox: sandbox{
			Comment:    "More folders that commands may write, and more paths that they cannot read. Relative paths start at the root.",
			WritePaths: []string{}, DenyRead: []string{},
		},
		Network: list{Comment: network, Allow: []string{}},
	})
	return text, explanation, err
}

// marshalReadable writes indented JSON that keeps `<`, `>` and `&` readable.
func marshalReadable(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxEntries bounds how much of a root is looked at.
const maxEntries = 20_000

// detect finds the toolchains whose files lie in the root itself.
func detect(root string) (found []toolchain, explanation []string, err error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxEntries)
	if err != nil && len(entries) == 0 && !isEnd(err) {
		return nil, nil, &FileError{File: root, Err: plain(err)}
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	for _, kind := range toolchains {
		file := firstOf(names, kind.files)
		if file == "" || firstOf(names, kind.unless) != "" {
			continue
		}
		found = append(found, kind)
		explanation = append(explanation, fmt.Sprintf("%s found: %s: %s", visible(file), kind.name, strings.Join(kind.allow, ", ")))
	}
	if len(found) == 0 {
		explanation = append(explanation, "no known toolchain found: only rules for git are written")
	}
	return found, explanation, nil
}

// firstOf returns the first name that one of the patterns names, or "".
func firstOf(names, patterns []string) string {
	for _, pattern := range patterns {
		for _, name := range names {
			suffix, isSuffix := strings.CutPrefix(pattern, "*")
			if name == pattern || isSuffix && strings.HasSuffix(name, suffix) {
				return name
			}
		}
	}
	return ""
}

// Init writes the first settings file of the project and pins what it allows:
// the user ran the command for exactly that. It never overwrites a file, follows
// no link, and pins nothing if the project loosens anything already, because
// that was never shown to the user. The error names the file; fs.ErrExist says
// that there is one.
func Init(ctx context.Context, p Places, o Options) (explanation []string, err error) {
	before, err := Read(ctx, p, o)
	if err != nil {
		return nil, err
	}
	riskBefore, err := AssessRisk(ctx, o.Rego, before)
	if err != nil {
		return nil, err
	}
	text, explanation, err := InitSettings(p.Root)
	if err != nil {
		return nil, err
	}
	if err := createSettings(p, text); err != nil {
		return nil, err
	}
	if len(riskBefore) > 0 {
		return append(explanation, "the project's files loosen safety already: run `lictor trust accept` to see and accept it"), nil
	}
	after, err := Read(ctx, p, o)
	if err != nil {
		return explanation, err
	}
	risk, err := AssessRisk(ctx, o.Rego, after)
	if err != nil {
		return explanation, err
	}
	// Between the two reads somebody else may have written: only what was written
	// here is pinned.
	if !bytes.Equal(after.Sources[0].Text, text) || len(risk.files()) > 1 {
		return append(explanation, "the project's files changed meanwhile: run `lictor trust accept` to see and accept them"), nil
	}
	trust := o.Trust
	if trust == nil {
		trust = OpenTrust(p.Trust)
	}
	if err := trust.Accept(p.Root, risk); err != nil {
		return append(explanation, "its allow rules could not be pinned: "+err.Error()), nil
	}
	return explanation, nil
}

// createSettings creates the settings file, which must not exist.
func createSettings(p Places, text []byte) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = &FileError{File: p.Settings, Err: plain(err)}
		}
	}()
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(FolderName, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(FolderName); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", FolderName)
	}
	name := filepath.Join(FolderName, "settings.json")
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", p.Settings, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = root.Remove(name)
	}
	return err
}
