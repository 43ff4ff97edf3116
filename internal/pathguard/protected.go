package pathguard

// Protected reports whether writing, creating, moving or deleting a path would
// change what Git executes, what lictor decides, or what an agent's hooks and
// settings say (the table in protected_table.go, SPEC section 3, step 2). rel
// is '/' separated: root-relative, or absolute for paths outside the root. With
// fold, letter case does not count. Call it for the path as written, for the
// real path and for model.Path.Place.
//
// It looks at names only. A hard link to a protected file has another name and
// is not seen here, nor is the deletion of a folder far above a protected one;
// the sandbox's snapshot (link counts, quarantine) sees both.
func Protected(rel string, fold bool) bool {
	return protected.match(rel, fold)
}
