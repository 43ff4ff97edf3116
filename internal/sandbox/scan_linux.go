package sandbox

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

var direntBuf = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// readDir lists a folder with the raw call: unlike the standard library's it gives
// inode numbers, and it does not sort.
func readDir(dir string) ([]dirent, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		if err == syscall.ELOOP || err == syscall.ENOTDIR {
			return nil, os.ErrNotExist // it became something else meanwhile
		}
		return nil, err
	}
	defer unix.Close(fd)
	bp := direntBuf.Get().(*[]byte)
	defer direntBuf.Put(bp)
	var out []dirent
	for {
		n, err := unix.ReadDirent(fd, *bp)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return out, nil
		}
		out = parseDirents((*bp)[:n], fd, out)
	}
}

// Offsets in struct linux_dirent64.
const (
	offReclen = 16
	offType   = 18
	offName   = 19
)

func parseDirents(b []byte, fd int, out []dirent) []dirent {
	for len(b) > offName {
		size := int(binary.NativeEndian.Uint16(b[offReclen:]))
		if size < offName || size > len(b) {
			return out
		}
		name := b[offName:size]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		e := dirent{name: string(name), ino: binary.NativeEndian.Uint64(b), dir: b[offType] == unix.DT_DIR, link: b[offType] == unix.DT_LNK}
		if b[offType] == unix.DT_UNKNOWN {
			var st unix.Stat_t
			if unix.Fstatat(fd, e.name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
				e.dir, e.link = st.Mode&unix.S_IFMT == unix.S_IFDIR, st.Mode&unix.S_IFMT == unix.S_IFLNK
			}
		}
		b = b[size:]
		if e.name != "." && e.name != ".." {
			out = append(out, e)
		}
	}
	return out
}

func stampOf(dir string) (dirStamp, bool) {
	var st unix.Stat_t
	if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return dirStamp{}, false
	}
	return dirStamp{uint64(st.Dev), st.Ino, unix.TimespecToNsec(st.Mtim), unix.TimespecToNsec(st.Ctim)}, true
}
