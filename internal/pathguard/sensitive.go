package pathguard

// Sensitive reports whether a path names a file that holds secrets (the table
// in sensitive_table.go, SPEC section 3). rel is '/' separated, relative or
// absolute; the folders above do not matter. With fold, letter case does not
// count. Call it for the path as written and for the real path.
func Sensitive(rel string, fold bool) bool {
	return sensitive.match(rel, fold)
}
