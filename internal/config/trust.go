package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Trust is the user's consents: for each root the hash of what the project was
// allowed to loosen (SPEC section 7). It is a view of ~/.lictor/trust.json as it
// was when OpenTrust read it; changes are made to the file of that moment, under
// a lock, so that concurrent processes lose nothing.
type Trust struct {
	file   string
	pins   map[string]Pin
	broken error
}

// Pin is one consent.
type Pin struct {
	// Hash is the hash of the accepted risk, Risk the risk itself, kept so that a
	// later question can say what has changed.
	Hash string `json:"hash"`
	Risk Risk   `json:"risk"`
	// Time is when it was accepted, in UTC.
	Time time.Time `json:"time"`
}

// trustVersion is the version of the file's format.
const trustVersion = 1

// trustFile is the file's document.
type trustFile struct {
	Version int            `json:"version"`
	Roots   map[string]Pin `json:"roots"`
}

// OpenTrust reads the trust file. A missing one trusts nothing; so does a broken
// one, or one that others could have written, and Broken says why.
func OpenTrust(file string) *Trust {
	pins, err := readTrust(file)
	return &Trust{file: file, pins: pins, broken: err}
}

// File is the path of the trust file.
func (t *Trust) File() string { return t.file }

// Broken returns why the file could not be used (a *FileError), or nil. A
// broken file is never overwritten: Accept fails until a person has looked at it.
func (t *Trust) Broken() error { return t.broken }

// Pin returns the consent for a root, found by its real path.
func (t *Trust) Pin(root string) (Pin, bool) {
	pin, ok := t.pins[realRoot(root)]
	return pin, ok
}

// Roots returns the real paths of all roots with a consent, sorted.
func (t *Trust) Roots() []string { return slices.Sorted(maps.Keys(t.pins)) }

// Accept pins the risk for the root. No risk needs no pin.
func (t *Trust) Accept(root string, risk Risk) error {
	return t.change(func(pins map[string]Pin) bool {
		setPin(pins, root, risk)
		return true
	})
}

// Forget removes the root's consent and reports whether there was one.
func (t *Trust) Forget(root string) (bool, error) {
	found := false
	err := t.change(func(pins map[string]Pin) bool {
		_, found = pins[realRoot(root)]
		delete(pins, realRoot(root))
		return found
	})
	return found, err
}

// Repin keeps the pin current after lictor itself wrote a rule on the user's
// answer: the new risk is pinned if, and only if, the pin still is oldHash, the
// hash of the risk before that write. It reports whether it pinned. A project
// that was never accepted, or that somebody else changed meanwhile, stays so.
func (t *Trust) Repin(root, oldHash string, risk Risk) (bool, error) {
	done := false
	err := t.change(func(pins map[string]Pin) bool {
		pin, ok := pins[realRoot(root)]
		if !ok || oldHash == "" || pin.Hash != oldHash {
			return false
		}
		setPin(pins, root, risk)
		done = true
		return true
	})
	return done, err
}

func setPin(pins map[string]Pin, root string, risk Risk) {
	if len(risk) == 0 {
		delete(pins, realRoot(root))
		return
	}
	pins[realRoot(root)] = Pin{Hash: risk.Hash(), Risk: risk.sorted(), Time: time.Now().UTC().Truncate(time.Second)}
}

// change applies edit to the file as it is now, under its lock.
func (t *Trust) change(edit func(map[string]Pin) bool) error {
	if t.broken != nil {
		return fmt.Errorf("nothing is written to a broken trust file: %w: repair it or move it away", t.broken)
	}
	if err := privateFolder(filepath.Dir(t.file)); err != nil {
		return err
	}
	unlock, err := lockFile(t.file + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	pins, err := readTrust(t.file)
	if err != nil {
		return fmt.Errorf("nothing is written to a broken trust file: %w: repair it or move it away", err)
	}
	if edit(pins) {
		text, err := json.MarshalIndent(trustFile{Version: trustVersion, Roots: pins}, "", "  ")
		if err != nil {
			return &FileError{File: t.file, Err: err}
		}
		if len(text) >= MaxFileSize {
			return &FileError{File: t.file, Err: fmt.Errorf("would become larger than %d bytes: forget projects that you no longer use", MaxFileSize)}
		}
		if err := writeAtomically(t.file, append(text, '\n')); err != nil {
			return err
		}
	}
	t.pins = pins
	return nil
}

// readTrust reads the file strictly. A missing or blank file has no pins.
func readTrust(file string) (map[string]Pin, error) {
	none := map[string]Pin{}
	opened, err := openBelow(filepath.Dir(file), filepath.Base(file))
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, &FileError{File: file, Err: plain(err)}
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return none, &FileError{File: file, Err: plain(err)}
	}
	if err := checkPrivate(info); err != nil {
		return none, &FileError{File: file, Err: err}
	}
	text, err := readText(file, opened)
	if err != nil || isBlank(text) {
		return none, err
	}
	if _, err := parseJSON(text); err != nil {
		return none, fileError(file, err)
	}
	var doc trustFile
	if err := decodeClosed(text, &doc); err != nil {
		return none, &FileError{File: file, Err: err}
	}
	if doc.Version != trustVersion {
		return none, &FileError{File: file, Err: fmt.Errorf("has version %d, but this lictor knows version %d", doc.Version, trustVersion)}
	}
	for root, pin := range doc.Roots {
		// The hash is what counts; a risk that does not belong to it would lie
		// about what was accepted.
		if pin.Hash != pin.Risk.Hash() || !strings.HasPrefix(pin.Hash, hashPrefix) {
			return none, &FileError{File: file, Err: fmt.Errorf("the pin of %s does not match its own hash", root)}
		}
	}
	if doc.Roots == nil {
		return none, nil
	}
	return doc.Roots, nil
}

// realRoot is the name that a root is pinned under.
func realRoot(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		return real
	}
	return filepath.Clean(root)
}

// privateFolder makes a folder for the user alone.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &FileError{File: dir, Err: plain(err)}
	}
	return nil
}

// writeAtomically replaces a file by text: readers see the old or the new one,
// also after a crash. The file is for the user alone.
func writeAtomically(file string, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = &FileError{File: file, Err: plain(err)}
		}
	}()
	dir := filepath.Dir(file)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(file)+".*") // 0600, never an existing file
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), file); err != nil {
		return err
	}
	return syncFolder(dir)
}

// lockPatience is how long a writer waits for another one.
const lockPatience = 5 * time.Second

// lockFile takes an exclusive lock that ends with the process at the latest. It
// waits for lockPatience, then gives an error that names the lock.
func lockFile(name string) (unlock func(), err error) { return lockFileFor(name, lockPatience) }

func lockFileFor(name string, patience time.Duration) (unlock func(), err error) {
	file, err := openLock(name)
	if err != nil {
		return nil, &FileError{File: name, Err: plain(err)}
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := tryLock(file)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !isLocked(err) || time.Now().After(deadline) {
			file.Close()
			return nil, &FileError{File: name, Err: fmt.Errorf("cannot be locked, another process holds it: %w", err)}
		}
	}
}
