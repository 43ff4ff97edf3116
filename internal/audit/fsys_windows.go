package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const (
	noFollow = 0
	// A file opened for appending on Windows cannot be truncated, so the writer
	// says where the end is.
	appendFlag = 0
)

func (o *osFile) Append(p []byte, at int64) (int, error) { return o.f.WriteAt(p, at) }

func (osFS) Stat(path string) (Info, error) {
	li, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	if li.IsDir() || li.Mode()&os.ModeSymlink != 0 {
		return Info{Size: li.Size(), Links: 1, Mode: li.Mode()}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return statFile(f)
}

func statFile(f *os.File) (Info, error) {
	st, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	var h windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &h); err != nil {
		return Info{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	return Info{
		Dev:  uint64(h.VolumeSerialNumber),
		Ino:  uint64(h.FileIndexHigh)<<32 | uint64(h.FileIndexLow),
		Size: st.Size(), Links: uint64(h.NumberOfLinks), Mode: st.Mode(),
	}, nil
}

// SyncDir does nothing: Windows has no way to flush a folder. A new segment or
// checkpoint may be missing after a power loss, never torn.
func (osFS) SyncDir(string) error { return nil }

// lockRegion is a byte far behind the end of any segment: locks on Windows are
// mandatory and must not keep readers from the lines.
func lockRegion() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 0x40000000} }

func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockRegion())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

func unlock(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockRegion()))
}
