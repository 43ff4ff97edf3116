package shell

import "strings"

// FoldsCase says whether program names mean the same in any letter case on this
// platform. Deny and ask rules then compare folded spellings; allow rules never
// do.
const FoldsCase = foldCase

// Fold returns the spelling that deny and ask rules compare on this platform:
// lower case where the file system ignores case, unchanged elsewhere.
func Fold(s string) string { return fold(s, foldCase) }

func fold(s string, on bool) string {
	if !on {
		return s
	}
	return strings.ToLower(s)
}
