package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// openBelow opens rel below dir. Windows has no openat: each element is checked
// by name first, and the opened file must be the one that was checked.
func openBelow(dir, rel string) (*os.File, error) {
	name := dir
	elements := strings.Split(rel, "/")
	var last os.FileInfo
	for i, element := range elements {
		name = filepath.Join(name, element)
		info, err := os.Lstat(name)
		if err != nil {
			return nil, err
		}
		switch {
		case i < len(elements)-1 && info.Mode()&(os.ModeSymlink|os.ModeIrregular) != 0:
			return nil, fmt.Errorf("%s is a link, which is not followed: make it a folder", element)
		case i < len(elements)-1 && !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder", element)
		case i == len(elements)-1 && info.Mode()&os.ModeSymlink != 0:
			return nil, errors.New("is a symbolic link, which is not followed: replace it by the file itself")
		}
		last = info
	}
	file, err := openFollowing(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, last) {
		err = errors.New("changed while it was opened: try again")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func openFollowing(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info.Mode()); err != nil {
		return nil, err
	}
	return os.Open(name)
}

func isNotDir(err error) bool { return errors.Is(err, windows.ERROR_DIRECTORY) }

// fileWriteRights are the rights with which one can change or replace a file.
const fileWriteRights = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE | windows.WRITE_DAC |
	windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

// checkManaged checks the owner and the access list of the file and its folder:
// only administrators, the system and (with userMayOwn) the current user may
// change them.
func checkManaged(name string, file *os.File, userMayOwn bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := checkRegular(info.Mode()); err != nil {
		return err
	}
	if err := checkAccess(name, userMayOwn); err != nil {
		return err
	}
	if err := checkAccess(filepath.Dir(name), userMayOwn); err != nil {
		return fmt.Errorf("its folder %s %w", filepath.Dir(name), err)
	}
	return nil
}

func checkAccess(name string, userMayOwn bool) error {
	security, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("has access rights that cannot be read: %w", err)
	}
	owner, _, err := security.Owner()
	if err != nil {
		return fmt.Errorf("has an owner that cannot be read: %w", err)
	}
	if !administrative(owner, userMayOwn) {
		return fmt.Errorf("belongs to %s, but must belong to an administrator", owner)
	}
	list, _, err := security.DACL()
	if err != nil || list == nil {
		return errors.New("has no access list, so everyone can write to it")
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return fmt.Errorf("has an access list that cannot be read: %w", err)
		}
		if entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || entry.Mask&fileWriteRights == 0 {
			continue
		}
		// The identifier starts at the entry's last field.
		holder := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		if !administrative(holder, userMayOwn) {
			return fmt.Errorf("is writable by %s: take that right away", holder)
		}
	}
	return nil
}

// trustedInstaller is the service that owns system folders.
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

func administrative(id *windows.SID, userMayOwn bool) bool {
	if id.IsWellKnown(windows.WinBuiltinAdministratorsSid) || id.IsWellKnown(windows.WinLocalSystemSid) ||
		id.IsWellKnown(windows.WinCreatorOwnerSid) || id.String() == trustedInstaller {
		return true
	}
	if !userMayOwn {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && id.Equals(user.User.Sid)
}

// checkPrivate relies on the profile folder's access list, which keeps other
// users out of the home folder.
func checkPrivate(os.FileInfo) error { return nil }
