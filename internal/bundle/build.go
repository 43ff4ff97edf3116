package bundle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Build makes a .tar.gz of a bundle folder: checked, without tests and what is
// for people, and the same bytes for the same files. out is the file to write;
// empty means <name>.tar.gz in the working folder. The archive is not signed. It
// returns the file and the bundle.
func Build(ctx context.Context, path, out string) (string, *Bundle, error) {
	b, _, err := Check(ctx, path)
	if err != nil {
		return "", nil, err
	}
	text, err := b.files.without(func(name string) bool { return !shipped(name) }).archive()
	if err != nil {
		return "", nil, refuse(path, "", err)
	}
	if out == "" {
		out = b.name + archiveSuffix
	}
	if !strings.HasSuffix(out, archiveSuffix) {
		return "", nil, fmt.Errorf("%s: the name of a built bundle ends with %s", out, archiveSuffix)
	}
	return out, b, replaceOpen(out, text)
}

// replaceOpen writes a file that everybody may read, in one step.
func replaceOpen(file string, text []byte) error {
	if err := replace(file, text); err != nil {
		return err
	}
	return os.Chmod(file, 0o644)
}

// Sign signs a bundle, a .tar.gz or a folder, in its place; an older signature is
// replaced. The bundle is checked first, and its manifest must have a serial.
func Sign(ctx context.Context, path string, key *SigningKey) (*Bundle, error) {
	b, _, err := Check(ctx, path)
	if err != nil {
		return nil, err
	}
	if b.serial < 1 {
		return nil, refuse(path, manifestFile, fmt.Errorf("metadata.serial is missing; it counts releases from 1, so that an old one cannot come back"))
	}
	text, err := sign(b.files, key)
	if err != nil {
		return nil, refuse(path, signaturesFile, err)
	}
	b.files[signaturesFile], b.key = text, key.ID
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(err)
	}
	if info.IsDir() {
		return b, replaceOpen(filepath.Join(path, signaturesFile), text)
	}
	packed, err := b.files.archive()
	if err != nil {
		return nil, refuse(path, "", err)
	}
	return b, replaceOpen(path, packed)
}

// Verify loads a bundle as a machine does that takes signed bundles only.
func Verify(ctx context.Context, path string, keys *Keyring) (*Bundle, error) {
	b, err := Load(ctx, path, LoadOptions{Keys: keys})
	if err != nil {
		return nil, err
	}
	return b, b.try(ctx)
}

// Info is what there is to know about a bundle.
type Info struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Revision    string          `json:"revision"`
	Serial      int64           `json:"serial"`
	Source      string          `json:"source"`
	Key         string          `json:"key,omitempty"`
	Digest      string          `json:"digest"`
	Files       []string        `json:"files"`
	Rules       []RuleInfo      `json:"rules"`
	Policy      json.RawMessage `json:"policy,omitempty"`
}

// RuleInfo is a rule with its examples.
type RuleInfo struct {
	Rule
	// Bad and Good are the examples' texts.
	Bad  []string `json:"bad,omitempty"`
	Good []string `json:"good,omitempty"`
}

// Inspect returns what there is to know about a loaded bundle. It is for
// reading: Key is empty unless the signature was verified.
func (b *Bundle) Inspect() Info {
	info := Info{
		Name: b.name, Title: b.title, Description: b.description, Revision: b.revision, Serial: b.serial,
		Source: b.source, Key: b.key, Digest: b.digest, Files: b.files.names(), Policy: b.policy,
	}
	for _, rule := range b.rules {
		r := RuleInfo{Rule: rule}
		for _, e := range b.examples {
			switch {
			case e.ID != rule.ID:
			case e.Bad:
				r.Bad = append(r.Bad, e.Text)
			default:
				r.Good = append(r.Good, e.Text)
			}
		}
		info.Rules = append(info.Rules, r)
	}
	return info
}

// Inspect loads a bundle for reading. Its signature is verified if there is a key
// for it; else the bundle is shown as one that is not signed.
func Inspect(ctx context.Context, path string, keys *Keyring) (Info, error) {
	f, err := readPath(path)
	if err != nil {
		return Info{}, refuse(path, "", err)
	}
	if text, signed := f[signaturesFile]; signed {
		id, _, err := readSignature(text)
		if _, known := keys.Get(id); err != nil || !known {
			delete(f, signaturesFile)
		}
	}
	b, err := load(ctx, path, f, LoadOptions{Keys: keys, AllowUnsigned: true})
	if err != nil {
		return Info{}, err
	}
	return b.Inspect(), nil
}
