package approve

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
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

// The files of a question: `<id>.question.json` while it is open,
// `<id>.decision.json` from its end on, `<id>.lock` while a process waits.
const (
	questionFile = ".question.json"
	decisionFile = ".decision.json"
	lockFile     = ".lock"
	tempStart    = ".new-"

	idLength  = 10
	idLetters = "abcdefghijklmnopqrstuvwxyz234567"
)

// store is the folder of a queue. Files appear whole and never change.
type store struct{ dir string }

func (s store) open() error {
	if !filepath.IsAbs(s.dir) {
		return fmt.Errorf("the folder for questions must be absolute: %q", s.dir)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("creating the folder for questions: %w", err)
	}
	return s.private()
}

// private makes sure that nobody else can read or answer.
func (s store) private() error {
	info, err := os.Lstat(s.dir)
	if err != nil {
		return fmt.Errorf("the folder for questions: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a folder (or a link to one): remove it", s.dir)
	}
	return ownFolder(s.dir, info)
}

func (s store) path(name string) string { return filepath.Join(s.dir, name) }

// publish creates a file that appears with all its content or not at all. The
// error wraps fs.ErrExist if there is one of that name: of several processes
// exactly one succeeds.
func (s store) publish(name string, data []byte) error {
	temp := s.path(tempStart + randomID() + randomID())
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing to the folder for questions: %w", err)
	}
	defer os.Remove(temp)
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("writing to the folder for questions: %w", err)
	}
	if err := os.Link(temp, s.path(name)); err != nil {
		return fmt.Errorf("writing to the folder for questions: %w", err)
	}
	syncFolder(s.dir)
	return nil
}

func (s store) decide(d *Decision) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return s.publish(d.ID+decisionFile, data)
}

func (s store) question(id string) (*Question, error) {
	data, err := s.read(id + questionFile)
	if err != nil {
		return nil, err
	}
	var q Question
	if err := decode(data, &q); err != nil || q.ID != id {
		return nil, fmt.Errorf("%s: not a question: %w", s.path(id+questionFile), orMismatch(err))
	}
	q.digest = digest(data)
	return &q, nil
}

func (s store) decision(id string) (*Decision, error) {
	data, err := s.read(id + decisionFile)
	if err != nil {
		return nil, err
	}
	var d Decision
	if err := decode(data, &d); err != nil || d.ID != id {
		return nil, fmt.Errorf("%s: not an answer: %w", s.path(id+decisionFile), orMismatch(err))
	}
	return &d, nil
}

func orMismatch(err error) error {
	if err == nil {
		return errors.New("it speaks of another question")
	}
	return err
}

// decode is strict, so that a file of another version is never half understood.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the end")
	}
	return nil
}

func (s store) read(name string) ([]byte, error) {
	file, err := openPlain(s.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 2*maxQuestion {
		return nil, fmt.Errorf("%s: not a file of the queue", s.path(name))
	}
	return io.ReadAll(io.LimitReader(file, 2*maxQuestion))
}

// remove removes a file; one that is gone is fine.
func (s store) remove(name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cleaning the folder for questions: %w", err)
	}
	return nil
}

// ids returns the ids that have a file of this kind.
func (s store) ids(kind string) ([]string, error) {
	if err := s.private(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder for questions: %w", err)
	}
	var out []string
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), kind)
		if ok && len(id) == idLength && strings.Trim(id, idLetters) == "" {
			out = append(out, id)
		}
	}
	return out, nil
}

// lock is the sign that a process waits for the answer. The system takes it back
// when the process dies.
type lock struct {
	file *os.File
	path string
}

// lock takes the lock of an id, or returns nil if another process has it. Who
// looks whether it is taken holds it for a moment, so it is tried more than once.
func (s store) lock(id string) (*lock, error) {
	for range 25 {
		l, err := takeLock(s.path(id + lockFile))
		if l != nil || err != nil {
			return l, err
		}
		time.Sleep(4 * time.Millisecond)
	}
	return nil, nil
}

// takeLock makes sure that the locked file is still the one with that name: the
// owner before may have removed it.
func takeLock(path string) (*lock, error) {
	for range 100 {
		file, err := openLock(path)
		if err != nil {
			return nil, fmt.Errorf("locking a question: %w", err)
		}
		if err := tryLock(file); err != nil {
			file.Close()
			if isLocked(err) {
				return nil, nil
			}
			return nil, fmt.Errorf("locking a question: %s: %w", path, err)
		}
		mine, err := file.Stat()
		there, err2 := os.Lstat(path)
		if err == nil && err2 == nil && os.SameFile(mine, there) {
			return &lock{file, path}, nil
		}
		file.Close()
	}
	return nil, fmt.Errorf("locking a question: %s changes all the time", path)
}

// locked reports whether a process waits for the question.
func (s store) locked(id string) bool {
	file, err := openPlain(s.path(id + lockFile))
	if err != nil {
		return false
	}
	defer file.Close()
	err = tryShared(file)
	return err != nil && isLocked(err)
}

// sweep removes what is left of questions that ended long ago. What fails stays
// for the next time.
func (s store) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < keepDecisions {
			continue
		}
		name := entry.Name()
		if strings.HasPrefix(name, tempStart) {
			_ = s.remove(name)
			continue
		}
		id, kind, _ := strings.Cut(name, ".")
		if len(id) != idLength || strings.Trim(id, idLetters) != "" || "."+kind == lockFile {
			continue
		}
		l, err := takeLock(s.path(id + lockFile))
		if l == nil || err != nil {
			continue
		}
		_ = s.remove(name)
		l.release()
	}
}

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:])[:idLength])
}
