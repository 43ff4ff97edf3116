package helper

import (
	"syscall"

	"github.com/lictor-policy/lictor/internal/sandbox/kernel"
)

// noLinks opens nothing through a symbolic link: whatever the tree looked like
// when the plan was made, a path that has a link in it by now is an error
// (CVE-2026-87766, CVE-2024-42472).
const noLinks = kernel.RESOLVE_NO_SYMLINKS | kernel.RESOLVE_NO_MAGICLINKS

// readOnly is what everything that is not writable gets.
const readOnly = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID

func openPath(path string) (int, error) {
	return kernel.Openat2(kernel.AT_FDCWD, path, kernel.O_PATH|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, noLinks)
}

// openLink opens a symbolic link itself; its parent is opened without links.
func openLink(path string) (int, error) {
	i := len(path) - 1
	for i > 0 && path[i] != '/' {
		i--
	}
	dir := path[:i]
	if dir == "" {
		dir = "/"
	}
	d, err := openPath(dir)
	if err != nil {
		return -1, err
	}
	defer syscall.Close(d)
	return syscall.Openat(d, path[i+1:], kernel.O_PATH|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
}

func open(o *Op, path string) (int, error) {
	if o.Attr&AttrLink != 0 {
		return openLink(path)
	}
	return openPath(path)
}

// mounts rearranges the mount namespace. Every copy is taken first, while the
// tree is as the plan saw it; then the whole tree becomes read-only; then the
// copies are attached, parents before children.
func (h *helper) mounts() {
	// Private, not slave: in a slave tree a later mount of the host appears inside,
	// writable.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		h.fail("make mounts private", "/", err)
	}
	fds := make([]int, len(h.p.Ops))
	for i := range h.p.Ops {
		fds[i] = h.prepare(&h.p.Ops[i])
	}
	if err := kernel.SetMountFlags(kernel.AT_FDCWD, "/", kernel.AT_RECURSIVE, readOnly|kernel.MOUNT_ATTR_NODEV); err != nil {
		h.fail("make everything read-only", "/", err)
	}
	for i := range h.p.Ops {
		o := &h.p.Ops[i]
		if fds[i] < 0 {
			continue
		}
		h.attach(o, fds[i])
		if o.Code == OpDev {
			h.devpts()
		}
	}
}

// prepare returns a detached mount for o, or -1 if there is nothing to attach.
func (h *helper) prepare(o *Op) int {
	switch o.Code {
	case OpBind:
		return h.clone(o)
	case OpTmpfs:
		fd := h.tmpfs(o.Path, o.Mode, o.Size)
		if len(o.Dirs)+len(o.Files) > 0 {
			h.furnish(fd, o)
		}
		if o.Attr&AttrReadOnly != 0 {
			h.setReadOnly(fd, o.Path, 0)
		}
		return fd
	case OpNull:
		fd, err := kernel.OpenTree(kernel.AT_FDCWD, "/dev/null", kernel.OPEN_TREE_CLONE)
		if err != nil {
			h.fail("copy", "/dev/null", err)
		}
		h.setReadOnly(fd, "/dev/null", kernel.MOUNT_ATTR_NODEV|kernel.MOUNT_ATTR_NOEXEC)
		return fd
	case OpDev:
		return h.dev()
	case OpProc:
		return h.proc()
	}
	h.fail("unknown mount operation", o.Path, syscall.EINVAL)
	return -1
}

func (h *helper) clone(o *Op) int {
	src := o.Source
	if src == "" {
		src = o.Path
	}
	at, err := open(o, src)
	if err != nil {
		if o.Attr&AttrOptional != 0 && (err == syscall.ENOENT || err == syscall.ENOTDIR) {
			return -1
		}
		h.fail("open", src, err)
	}
	// Recursive: in a user namespace a tree whose submounts hide something can only
	// be copied with them.
	fd, err := kernel.OpenTree(at, "", kernel.OPEN_TREE_CLONE|kernel.AT_EMPTY_PATH|kernel.AT_RECURSIVE)
	syscall.Close(at)
	if err != nil {
		h.fail("copy", src, err)
	}
	attr := uint64(kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV)
	if o.Attr&AttrReadOnly != 0 {
		attr |= kernel.MOUNT_ATTR_RDONLY
	}
	if err := kernel.SetMountFlags(fd, "", kernel.AT_EMPTY_PATH|kernel.AT_RECURSIVE, attr); err != nil {
		h.fail("set attributes of", src, err)
	}
	return fd
}

func (h *helper) attach(o *Op, fd int) {
	to, err := open(o, o.Path)
	if err != nil {
		if o.Attr&AttrOptional != 0 && (err == syscall.ENOENT || err == syscall.ENOTDIR) {
			syscall.Close(fd)
			return
		}
		h.fail("open mount point", o.Path, err)
	}
	if err := kernel.MoveMount(fd, to); err != nil {
		h.fail("mount", o.Path, err)
	}
	syscall.Close(to)
	syscall.Close(fd)
}

func (h *helper) setReadOnly(fd int, path string, more uint64) {
	if err := kernel.SetMountFlags(fd, "", kernel.AT_EMPTY_PATH, readOnly|more); err != nil {
		h.fail("make read-only", path, err)
	}
}

type option struct{ key, value string }

func (h *helper) newfs(kind, path string, attrs uintptr, opts ...option) int {
	c, err := kernel.Fsopen(kind)
	if err != nil {
		h.fail("open file system "+kind+" for", path, err)
	}
	for _, o := range opts {
		if err := kernel.FsconfigSet(c, o.key, o.value); err != nil {
			h.fail("set option "+o.key+" of", path, err)
		}
	}
	if err := kernel.FsconfigCreate(c); err != nil {
		h.fail("create file system "+kind+" for", path, err)
	}
	fd, err := kernel.Fsmount(c, attrs)
	if err != nil {
		h.fail("mount file system "+kind+" for", path, err)
	}
	syscall.Close(c)
	return fd
}

// tmpfs returns a detached in-memory file system of at most size KiB; without a
// limit the kernel would give it half of the memory.
func (h *helper) tmpfs(path string, mode, size uint32) int {
	if size == 0 {
		size = 64
	}
	return h.newfs("tmpfs", path, kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NODEV,
		option{"mode", octal(mode)}, option{"size", decimal(uint64(size)) + "k"})
}

// furnish makes the mount points in a new in-memory folder. Nobody else sees it
// yet, so there is no link in it. Folders get their real modes last, the deepest
// first, because a mask's folders may be passed through but not written to.
func (h *helper) furnish(fd int, o *Op) {
	mode := uint32(0o755)
	if o.Mode&0o444 == 0 {
		mode = 0o111
	}
	h.chmod(fd, ".", 0o700, o)
	var made []string
	for _, d := range o.Dirs {
		made = h.mkdirs(fd, d, o, made)
	}
	for _, f := range o.Files {
		for i := len(f) - 1; i > 0; i-- {
			if f[i] == '/' {
				made = h.mkdirs(fd, f[:i], o, made)
				break
			}
		}
		n, err := syscall.Openat(fd, f, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o444)
		if err != nil {
			h.fail("create file "+f+" in", o.Path, err)
		}
		syscall.Close(n)
	}
	for i := len(made) - 1; i >= 0; i-- {
		h.chmod(fd, made[i], mode, o)
	}
	h.chmod(fd, ".", o.Mode, o)
}

// mkdirs makes rel and its parents and appends the new ones to made.
func (h *helper) mkdirs(fd int, rel string, o *Op, made []string) []string {
	for i := 1; i <= len(rel); i++ {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		switch err := syscall.Mkdirat(fd, rel[:i], 0o700); err {
		case nil:
			made = append(made, rel[:i])
		case syscall.EEXIST:
		default:
			h.fail("create folder "+rel+" in", o.Path, err)
		}
	}
	return made
}

func (h *helper) chmod(fd int, rel string, mode uint32, o *Op) {
	if err := kernel.Fchmodat(fd, rel, mode); err != nil {
		h.fail("set the mode of "+rel+" in", o.Path, err)
	}
}

var devices = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// dev builds a minimal /dev: six device nodes of the host, links, and mount
// points for shared memory and terminals. It is attached read-only.
func (h *helper) dev() int {
	fd := h.newfs("tmpfs", "/dev", kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NOEXEC,
		option{"mode", "755"}, option{"size", "64k"})
	for _, d := range devices {
		f, err := syscall.Openat(fd, d, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o444)
		if err != nil {
			h.fail("create file in", "/dev", err)
		}
		syscall.Close(f)
		n, err := kernel.OpenTree(kernel.AT_FDCWD, "/dev/"+d, kernel.OPEN_TREE_CLONE)
		if err != nil {
			h.fail("copy", "/dev/"+d, err)
		}
		h.nodes[d] = n
	}
	for _, d := range [...]string{"shm", "pts"} {
		if err := syscall.Mkdirat(fd, d, 0o755); err != nil {
			h.fail("create folder in", "/dev", err)
		}
	}
	for _, l := range [...][2]string{
		{"/proc/self/fd", "fd"},
		{"/proc/self/fd/0", "stdin"},
		{"/proc/self/fd/1", "stdout"},
		{"/proc/self/fd/2", "stderr"},
		{"pts/ptmx", "ptmx"},
		{"/proc/kcore", "core"},
	} {
		if err := kernel.Symlinkat(l[0], fd, l[1]); err != nil {
			h.fail("create link in", "/dev", err)
		}
	}
	return fd
}

// devpts fills the attached /dev and then makes it read-only.
func (h *helper) devpts() {
	for _, d := range devices {
		h.attach(&Op{Path: "/dev/" + d}, h.nodes[d])
	}
	h.attach(&Op{Path: "/dev/shm"}, h.tmpfs("/dev/shm", 0o1777, shmKiB))
	h.attach(&Op{Path: "/dev/pts"}, h.newfs("devpts", "/dev/pts", kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NOEXEC,
		option{"ptmxmode", "666"}, option{"mode", "620"}))
	if err := kernel.SetMountFlags(kernel.AT_FDCWD, "/dev", 0, kernel.MOUNT_ATTR_RDONLY); err != nil {
		h.fail("make read-only", "/dev", err)
	}
}

// shmKiB is the size of the private shared memory.
const shmKiB = 512 << 10

// proc is read-only as a whole: nothing below it can be set from inside
// (core_pattern, sysrq-trigger, another process's memory), not even by root.
func (h *helper) proc() int {
	return h.newfs("proc", "/proc", kernel.MOUNT_ATTR_NOSUID|kernel.MOUNT_ATTR_NODEV|kernel.MOUNT_ATTR_NOEXEC|kernel.MOUNT_ATTR_RDONLY)
}

func octal(v uint32) string {
	var b [12]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + v&7)
		v >>= 3
		if v == 0 {
			return string(b[i:])
		}
	}
}

func decimal(v uint64) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			return string(b[i:])
		}
	}
}
