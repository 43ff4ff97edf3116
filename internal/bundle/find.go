package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// archiveSuffix ends the name of a built bundle.
const archiveSuffix = ".tar.gz"

// candidate is a bundle that was found: its path, and the folder whose ownership
// vouches for it if it is not signed.
type candidate struct{ path, folder string }

// findBundles lists the bundles of a folder: folders with a manifest and .tar.gz
// files. A folder that does not exist has none. What is neither is an error: a
// bundle that is left out silently protects nothing.
func findBundles(folder string) ([]candidate, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, pathError(err)
	}
	if err := checkTrusted(folder); err != nil {
		return nil, err
	}
	var out []candidate
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), ".md") {
			continue
		}
		if !isBundle(name) {
			return nil, notBundle(name)
		}
		out = append(out, candidate{name, folder})
	}
	return out, nil
}

// notBundle says what is wrong with something in a folder of bundles.
func notBundle(name string) error {
	switch filepath.Ext(name) {
	case ".rego":
		return fmt.Errorf("%s: there is no %s beside it, so its folder is no bundle; `lictor bundle init` shows what one holds", name, manifestFile)
	case keySuffix:
		return fmt.Errorf("%s: this is no bundle; a public key belongs into the machine's keys folder", name)
	}
	return fmt.Errorf("%s: neither a folder with %s nor a %s file; move it elsewhere", name, manifestFile, archiveSuffix)
}

// findPath lists the bundles at a path that the user named: the bundle itself,
// or a folder of bundles.
func findPath(name string) ([]candidate, error) {
	if isBundle(name) {
		return []candidate{{name, filepath.Dir(name)}}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, pathError(err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a %s file", name, archiveSuffix)
	}
	found, err := findBundles(name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: no bundle: there is no %s", name, manifestFile)
	}
	return found, err
}

// isBundle reports whether a path looks like a bundle. A link to one does too, so
// that it is refused as a link and not overlooked.
func isBundle(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(name, manifestFile))
		return err == nil
	}
	return info.Mode().IsRegular() && strings.HasSuffix(name, archiveSuffix)
}
