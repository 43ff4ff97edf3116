//go:build !linux && !darwin

package sandbox

import "os"

func ownedByUs(os.FileInfo) bool { return true }

// identity is not known on this platform: files are told apart by path alone.
func identity(os.FileInfo) (dev, ino, links uint64) { return 0, 0, 1 }
