package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a bundle. They are generous for policy and small for a machine that
// reads it before every session.
const (
	maxFiles     = 500
	maxFileSize  = 1 << 20
	maxTotalSize = 8 << 20
	maxArchive   = 8 << 20
	maxDepth     = 16
)

// The files of a bundle that have a meaning by their name.
const (
	manifestFile   = ".manifest"
	signaturesFile = ".signatures.json"
	dataFile       = "data.json"
	testSuffix     = "_test.rego"
	regoSuffix     = ".rego"
)

// files are a bundle's files by their clean relative path, read once: everything
// after this works on these bytes, so a file cannot change between its check and
// its use.
type files map[string][]byte

// names returns the paths in order.
func (f files) names() []string { return slices.Sorted(maps.Keys(f)) }

// without returns a copy without the files that drop names.
func (f files) without(drop func(name string) bool) files {
	rest := maps.Clone(f)
	maps.DeleteFunc(rest, func(name string, _ []byte) bool { return drop(name) })
	return rest
}

func isTest(name string) bool { return strings.HasSuffix(name, testSuffix) }

// readPath reads a bundle from a folder or a .tar.gz file.
func readPath(name string) (files, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, pathError(err)
	case info.IsDir():
		return readFolder(os.DirFS(name))
	case info.Mode().IsRegular():
		return readArchiveFile(name)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("is a link; name the bundle itself")
	default:
		return nil, errors.New("is neither a folder nor a .tar.gz file")
	}
}

// readFolder reads a bundle from a file system. Links and special files are
// refused: what a signature covers must be what is read.
func readFolder(fsys fs.FS) (files, error) {
	out := make(files)
	total := 0
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return pathError(err)
		}
		if entry.IsDir() {
			return nil
		}
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s: %s; a bundle holds plain files only", name, special(entry.Type()))
		}
		if err := checkName(name); err != nil {
			return err
		}
		file, err := fsys.Open(name)
		if err != nil {
			return pathError(err)
		}
		defer file.Close()
		// The name may have become a link since it was listed.
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("%s: changed while it was read", name)
		}
		return out.add(name, file, &total)
	})
	return out, err
}

// readArchiveFile reads a .tar.gz file.
func readArchiveFile(name string) (files, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, pathError(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxArchive+1))
	if err != nil {
		return nil, pathError(err)
	}
	return readArchive(text)
}

// readArchive reads a gzipped tar. Its entries are plain files and folders.
func readArchive(text []byte) (files, error) {
	if len(text) > maxArchive {
		return nil, fmt.Errorf("the archive has more than %d bytes", maxArchive)
	}
	source := bytes.NewReader(text)
	zipped, err := gzip.NewReader(source)
	if err != nil {
		return nil, errors.New("is no .tar.gz file")
	}
	// One stream only: what stands behind it would not be read, and must not be
	// there.
	zipped.Multistream(false)
	out := make(files)
	total := 0
	limited := io.LimitReader(zipped, 2*maxTotalSize)
	reader := tar.NewReader(limited)
	for entries := 0; ; entries++ {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the archive is broken or too long: %w", err)
		}
		if entries > 2*maxFiles {
			return nil, fmt.Errorf("more than %d entries", 2*maxFiles)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(header.Name, "/"), "./")
		switch header.Typeflag {
		case tar.TypeDir:
			continue
		case tar.TypeReg:
		default:
			return nil, fmt.Errorf("%s: a tar entry of type %q; a bundle holds plain files only", header.Name, header.Typeflag)
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
		if err := out.add(name, reader, &total); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return nil, fmt.Errorf("the archive is broken: %w", err)
	}
	if source.Len() > 0 {
		return nil, errors.New("there is something behind the archive's end")
	}
	return out, nil
}

// add reads one file within the limits.
func (f files) add(name string, reader io.Reader, total *int) error {
	if _, ok := f[name]; ok {
		return fmt.Errorf("%s: is there twice", name)
	}
	if len(f) >= maxFiles {
		return fmt.Errorf("more than %d files", maxFiles)
	}
	text, err := io.ReadAll(io.LimitReader(reader, maxFileSize+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, pathError(err))
	}
	if len(text) > maxFileSize {
		return fmt.Errorf("%s: more than %d bytes", name, maxFileSize)
	}
	if *total += len(text); *total > maxTotalSize {
		return fmt.Errorf("%s: the bundle has more than %d bytes", name, maxTotalSize)
	}
	f[name] = text
	return nil
}

// checkName allows clean relative names that mean the same on every system.
func checkName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == "." || path.Clean(name) != name:
		return fmt.Errorf("%q: not a clean relative name", name)
	case !utf8.ValidString(name) || strings.ContainsAny(name, "\\:\x00") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%q: a name of a bundle has no control character, colon or backslash", name)
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("%q: more than %d folders deep", name, maxDepth)
	}
	return nil
}

func special(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "is a link"
	}
	return "is a special file"
}

// pathError says which file and why, without the name of the system call.
func pathError(err error) error {
	if known, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", filepath.ToSlash(known.Path), known.Err)
	}
	return err
}

// archive writes the files as a .tar.gz that is the same for the same files:
// sorted, without times, owners and modes.
func (f files) archive() ([]byte, error) {
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	writer := tar.NewWriter(zipped)
	for _, name := range f.names() {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(f[name])), Format: tar.FormatUSTAR}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := writer.Write(f[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := errors.Join(writer.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
