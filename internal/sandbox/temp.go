package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// tempFolders lists the platform's temp folders and TMPDIR. One that contains the
// home folder or is the file system's root is left out, unless it is a usual one:
// then it becomes private (see privateTemp).
func tempFolders(in *Input) []string {
	if in.GOOS == "windows" {
		return []string{os.TempDir()}
	}
	usual := []string{"/tmp", "/var/tmp"}
	if in.GOOS == "darwin" {
		usual = []string{"/private/tmp", "/private/var/tmp"}
	}
	out := usual
	if dir := lookup(in.Environ)["TMPDIR"]; filepath.IsAbs(dir) {
		dir = filepath.Clean(dir)
		if dir != "/" && !within(in.Home, dir) && !within(in.Root, dir) && !within(dir, in.Root) {
			out = append(out, dir)
		}
	}
	return unique(out)
}

// privateTemp names the host folder that stands for the temp folders of one
// project. It is private when settings ask for it, in the strict profile, and
// whenever the root or the home folder itself lies in a temp folder: a shared one
// would make everything beside the root writable.
func privateTemp(in *Input) string {
	sum := sha256.Sum256([]byte(in.Root))
	base := "/tmp"
	if in.GOOS == "darwin" {
		base = "/private/tmp"
	}
	return filepath.Join(base, fmt.Sprintf("lictor-%d", os.Getuid()), hex.EncodeToString(sum[:8]))
}

// makePrivateTemp creates the folder of privateTemp and checks that it and its
// parent belong to this user and nobody else can enter.
func makePrivateTemp(dir string) error {
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(d, 0o700); err != nil && !os.IsExist(err) {
			return fmt.Errorf("private temp folder: %w", err)
		}
		fi, err := os.Lstat(d)
		if err != nil {
			return fmt.Errorf("private temp folder: %w", err)
		}
		if !fi.IsDir() || !ownedByUs(fi) || fi.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("private temp folder %s: not a folder of this user alone; remove it", d)
		}
	}
	return nil
}
