//go:build unix

package bundle

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkTrusted makes sure that nobody but root and the user could have written a
// file or folder. A link is judged by what it leads to.
func checkTrusted(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return pathError(err)
	}
	owner := ownerOf(info)
	switch {
	case owner != 0 && owner != os.Geteuid():
		return fmt.Errorf("%s: belongs to another user (id %d); it must be yours or root's", name, owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s: others can write it (mode %04o); run chmod go-w", name, info.Mode().Perm())
	}
	return nil
}

// checkOwned makes sure that the folder and everything in it belongs to the user
// and that nobody else can write it. It is what an unsigned bundle needs instead
// of a signature.
func checkOwned(folder, bundle string) error {
	check := func(name string, info fs.FileInfo) error {
		switch owner := ownerOf(info); {
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: is a link", name)
		case owner != os.Geteuid():
			return fmt.Errorf("%s: belongs to user %d, not to you", name, owner)
		case info.Mode().Perm()&0o022 != 0:
			return fmt.Errorf("%s: others can write it (mode %04o); run chmod go-w", name, info.Mode().Perm())
		}
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return pathError(err)
	}
	if err := check(folder, info); err != nil {
		return err
	}
	return filepath.WalkDir(bundle, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return pathError(err)
		}
		info, err := entry.Info()
		if err != nil {
			return pathError(err)
		}
		return check(name, info)
	})
}

// checkSecret makes sure that only the user can read a private key.
func checkSecret(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return pathError(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: others can read this private key (mode %04o); run chmod 600", name, info.Mode().Perm())
	}
	return nil
}

func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
