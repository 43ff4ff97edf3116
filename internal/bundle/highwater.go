package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mark is the newest release of a bundle that this machine has used.
type mark struct {
	Serial int64  `json:"serial"`
	Digest string `json:"digest"`
	Key    string `json:"key"`
}

// marks are the marks by bundle, as the state file keeps them.
type marks map[string]mark

type marksFile struct {
	Version int   `json:"version"`
	Bundles marks `json:"bundles"`
}

const (
	marksVersion = 1
	maxMarksSize = 1 << 20
	lockWait     = 5 * time.Second
)

// readMarks reads the state file. A missing one is a new machine. A broken one is
// an error: without it an old release could come back.
func readMarks(file string) (marks, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, pathError(err)
	}
	defer f.Close()
	if err := checkTrusted(file); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMarksSize+1))
	if err != nil {
		return nil, pathError(err)
	}
	var document marksFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err = checkJSON(text); err == nil {
		err = decoder.Decode(&document)
	}
	switch {
	case len(text) > maxMarksSize:
		err = fmt.Errorf("more than %d bytes", maxMarksSize)
	case err == nil && document.Version != marksVersion:
		err = fmt.Errorf("version %d is unknown", document.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the record of bundle serials is broken: %s; look at what changed it, then remove it", file, strings.TrimPrefix(err.Error(), "json: "))
	}
	return document.Bundles, nil
}

// allow says whether a bundle may follow what this machine has used.
func (m marks) allow(b *Bundle) error {
	last, ok := m[b.name]
	switch {
	case !ok:
		return nil
	case b.key == "":
		return fmt.Errorf("not signed, but this machine has used a signed bundle %s (serial %d, key %s); sign it", b.name, last.Serial, last.Key)
	case b.serial < last.Serial:
		return fmt.Errorf("serial %d is older than %d, which this machine has used already; build the bundle with a serial above it", b.serial, last.Serial)
	case b.serial == last.Serial && b.digest != last.Digest:
		return fmt.Errorf("serial %d was used already by another content of this bundle; build it with a serial above it", b.serial)
	}
	return nil
}

// raise puts the signed bundles into the state file. Serials never sink: the file
// is read again under a lock, so that processes that load at the same time lose
// nothing, and replaced in one step.
func raise(file string, bundles []*Bundle) error {
	changed := func(m marks, b *Bundle) bool { return b.key != "" && m[b.name].Serial < b.serial }
	known, err := readMarks(file)
	if err != nil || file == "" {
		return err
	}
	needed := false
	for _, b := range bundles {
		needed = needed || changed(known, b)
	}
	if !needed {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return pathError(err)
	}
	unlock, err := lock(file+".lock", lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if known, err = readMarks(file); err != nil {
		return err
	}
	if known == nil {
		known = make(marks)
	}
	for _, b := range bundles {
		// Another process may have seen a newer release meanwhile.
		if err := known.allow(b); err != nil {
			return fmt.Errorf("bundle %s: %w", b.source, err)
		}
		if changed(known, b) {
			known[b.name] = mark{Serial: b.serial, Digest: b.digest, Key: b.key}
		}
	}
	text, err := json.MarshalIndent(marksFile{Version: marksVersion, Bundles: known}, "", "  ")
	if err != nil {
		return err
	}
	return replace(file, append(text, '\n'))
}

// replace writes a file so that a reader and a crash see the old or the new one.
func replace(file string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return pathError(err)
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), file); err != nil {
		return pathError(err)
	}
	return syncFolder(filepath.Dir(file))
}

// lock takes a lock file, waiting for a while. The file stays: removing it would
// let two processes hold it.
func lock(file string, wait time.Duration) (unlock func(), err error) {
	handle, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, pathError(err)
	}
	for end := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		held, err := tryLock(handle)
		if err != nil {
			handle.Close()
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if held {
			return func() { handle.Close() }, nil
		}
		if time.Now().After(end) {
			handle.Close()
			return nil, fmt.Errorf("%s: another process has held it for %v", file, wait)
		}
	}
}
