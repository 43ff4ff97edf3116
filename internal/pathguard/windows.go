package pathguard

import (
	"errors"
	"strings"
)

// Windows has many spellings of one file. These pure functions bring a path
// into one form (`C:/a/b`, no trailing dots or blanks, no stream) or refuse it;
// they run in tests on every system.

var (
	errDevice   = errors.New(`a device or volume path (\\.\, \\?\GLOBALROOT, CON, NUL, COM1 …) is no file; write the path with its drive letter`)
	errStream   = errors.New(`":" inside a file name opens another stream of the file; write the file's plain name`)
	errShare    = errors.New("a network share is never asked: copy the file to a local folder")
	errDriveRel = errors.New(`a path like "C:name" depends on the drive's current folder; write C:\… with the whole path`)
)

// windowsPath returns the one form of an absolute Windows path: "C:/a/b". Drive
// letters are upper-case. Segments are normalised by windowsName; "." and ".."
// are kept for the walk. Shares are refused: a mere look-up there would send the
// user's name and password hash to the server that the path names.
func windowsPath(text string) (string, error) {
	s := strings.ReplaceAll(text, `\`, "/")
	if strings.HasPrefix(s, "//?/") || strings.HasPrefix(s, "/??/") {
		s = s[4:]
		if len(s) >= 4 && strings.EqualFold(s[:4], "UNC/") {
			return "", errShare
		}
		if !hasDrive(s) {
			return "", errDevice
		}
	}
	if strings.HasPrefix(s, "//./") || s == "//." || strings.HasPrefix(s, "//?") {
		return "", errDevice
	}
	if strings.HasPrefix(s, "//") {
		return "", errShare
	}
	if !hasDrive(s) {
		return "", errDevice
	}
	if len(s) > 2 && s[2] != '/' {
		return "", errDriveRel
	}
	rest, err := windowsRelative(strings.TrimLeft(s[2:], "/"))
	return strings.ToUpper(s[:1]) + ":/" + rest, err
}

// windowsRelative normalises the segments of a relative Windows path.
func windowsRelative(text string) (string, error) {
	segs := strings.Split(strings.ReplaceAll(text, `\`, "/"), "/")
	for i, s := range segs {
		n, err := windowsName(s)
		if err != nil {
			return "", err
		}
		segs[i] = n
	}
	return strings.Join(segs, "/"), nil
}

// windowsName is the name that the system would look up for a segment: trailing
// dots and blanks do not count. A stream (`file::$DATA`) or a device (`nul.txt`)
// is an error.
func windowsName(s string) (string, error) {
	if s == "." || s == ".." {
		return s, nil
	}
	n := strings.TrimRight(s, ". ")
	if n == "" && s != "" {
		// "..." and " " mean the folder itself or nothing, depending on the API.
		return "", errDevice
	}
	if strings.IndexByte(n, ':') >= 0 {
		return "", errStream
	}
	if isDevice(n) {
		return "", errDevice
	}
	return n, nil
}

// isDevice reports whether a segment names a device in every folder: CON, NUL,
// COM1 … with or without an extension, also with superscript digits.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT") {
		switch stem[3:] {
		case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
			return true
		}
	}
	return false
}

// looksShort reports whether a segment could be an 8.3 name: "GIT~1".
func looksShort(name string) bool {
	i := strings.LastIndexByte(name, '~')
	return i > 0 && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9' && len(name) <= 12
}

// hasDrive reports whether s begins with a drive letter and a colon.
func hasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z'
}

// windowsJoin makes text absolute: against cwd, and cwd against root (which is
// in the one form already).
func windowsJoin(root, cwd, text string) (string, error) {
	base := root
	for _, t := range []string{cwd, text} {
		s := strings.ReplaceAll(t, `\`, "/")
		switch {
		case s == "":
		case strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/??/") || hasDrive(s):
			abs, err := windowsPath(s)
			if err != nil {
				return "", err
			}
			base = abs
		case s[0] == '/': // the top of the base's drive
			if !hasDrive(base) {
				return "", errDriveRel
			}
			rel, err := windowsRelative(strings.TrimLeft(s, "/"))
			if err != nil {
				return "", err
			}
			base = base[:2] + "/" + rel
		default:
			rel, err := windowsRelative(s)
			if err != nil {
				return "", err
			}
			base = strings.TrimSuffix(base, "/") + "/" + rel
		}
	}
	return base, nil
}
