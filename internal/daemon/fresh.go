//go:build unix

package daemon

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lictor-policy/lictor/internal/config"
)

// What an engine knows comes from files, and a verdict must never come from files
// that are gone. Before each call all of their places are looked at; a notifier
// of the system would tell too late or, when its queue is full, not at all.

// stamp is what is compared about a place: what it is, and what changes when its
// content does. The change time catches what sets the modification time back.
type stamp struct {
	kind               uint8
	mode, uid, gid     uint32
	dev, ino           uint64
	size, mtime, ctime int64
}

const (
	missing uint8 = iota
	present
	// unreadable places compare equal to nothing, not even to themselves.
	unreadable
)

// watched is one place. Of folders only the identity and who may write to them
// is compared: their times change with every file in them.
type watched struct {
	path   string
	folder bool
}

// watchList are the places that an engine depends on. Each field of
// config.Places is here or named in the test as one that decides nothing.
func watchList(p config.Places) []watched {
	list := []watched{
		{p.Root, true}, {p.Home, true}, {filepath.Dir(p.Settings), true}, {p.HomeDir, true},
	}
	for dir := p.ManagedDir; ; dir = filepath.Dir(dir) {
		list = append(list, watched{dir, true})
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, file := range []string{
		p.Settings, p.Permissions, p.LocalPermissions, p.ProjectPolicy,
		p.HomeSettings, p.HomePermissions, p.HomePolicy, p.Trust,
		p.ManagedPolicy, p.ManagedPermissions,
		filepath.Join(p.HomeDir, "bundles.state"),
	} {
		list = append(list, watched{file, false})
	}
	return list
}

// treeList are folders (or files) whose whole content counts: managed bundles,
// those of the options among them, and the keys that bundles are signed with.
func treeList(p config.Places, bundles []string) []string {
	list := append([]string{filepath.Join(p.ManagedDir, "keys"), p.KeysDir}, p.BundleDirs...)
	return append(list, bundles...)
}

// maxTree is how many files of such a folder are looked at; more than that are
// never fresh.
const maxTree = 1000

// look appends the stamps of all places. A file is looked at twice, as a link
// and through it, so that neither another link nor another target goes unseen.
func look(out []stamp, list []watched, trees []string) []stamp {
	for _, w := range list {
		out = append(out, stampOf(w.path, true, w.folder))
		if !w.folder && out[len(out)-1].kind == present {
			out = append(out, stampOf(w.path, false, false))
		}
	}
	for _, tree := range trees {
		first := stampOf(tree, true, false)
		out = append(out, first)
		if first.kind == missing {
			continue
		}
		n := 0
		_ = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if n++; n > maxTree || err != nil {
				out = append(out, stamp{kind: unreadable})
				return filepath.SkipAll
			}
			out = append(out, stampOf(path, true, false))
			return nil
		})
	}
	return out
}

func stampOf(path string, follow, folder bool) stamp {
	var st unix.Stat_t
	stat := unix.Lstat
	if follow {
		stat = unix.Stat
	}
	var err error
	for {
		if err = stat(path, &st); err != unix.EINTR {
			break
		}
	}
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return stamp{}
	default:
		return stamp{kind: unreadable}
	}
	s := stamp{
		kind: present, mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
		dev: uint64(st.Dev), ino: uint64(st.Ino),
	}
	if !folder {
		s.size, s.mtime, s.ctime = st.Size, st.Mtim.Nano(), st.Ctim.Nano()
	}
	return s
}

// equal compares two looks. A place that could not be looked at is never equal.
func equal(a, b []stamp) bool {
	return slices.Equal(a, b) && !slices.ContainsFunc(a, func(s stamp) bool { return s.kind == unreadable })
}

// settled is how old the youngest file must be for its times to tell every
// change: clocks of file systems tick as slowly as every two seconds, and two
// writes within one tick look alike.
const settled = 2500 * time.Millisecond

// youngest is the latest time in a look; it may lie in the future.
func youngest(stamps []stamp) time.Time {
	latest := int64(0)
	for i := range stamps {
		latest = max(latest, stamps[i].mtime, stamps[i].ctime)
	}
	return time.Unix(0, latest)
}

// digest is a hash of the files' contents, for times that do not tell. It is nil
// if one cannot be read.
func digest(list []watched, trees []string) []byte {
	h := sha256.New()
	add := func(path string) bool {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err != nil {
			_, _ = io.WriteString(h, "-\x00")
			return os.IsNotExist(err)
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			_, _ = io.WriteString(h, "?\x00")
			return err == nil
		}
		content := sha256.New()
		if _, err := io.Copy(content, io.LimitReader(f, 64<<20)); err != nil {
			return false
		}
		h.Write(content.Sum([]byte{'+'}))
		return true
	}
	for _, w := range list {
		if !w.folder && !add(w.path) {
			return nil
		}
	}
	for _, tree := range trees {
		n := 0
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if n++; err != nil || n > maxTree {
				if os.IsNotExist(err) && path == tree {
					return nil
				}
				return fs.ErrInvalid
			}
			if _, err := io.WriteString(h, path+"\x00"); err != nil || d.Type().IsRegular() && !add(path) {
				return fs.ErrInvalid
			}
			return nil
		})
		if err != nil {
			return nil
		}
	}
	return h.Sum(nil)
}
