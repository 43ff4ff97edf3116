//go:build !windows

package config

import "os"

func environment(name string) string { return os.Getenv(name) }
