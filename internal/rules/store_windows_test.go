package rules

import "os"

// fileModes says that files have Unix modes here.
const fileModes = false

// makePipe makes a folder, since there are no pipes in folders here.
func makePipe(path string) error { return os.Mkdir(path, 0o700) }
