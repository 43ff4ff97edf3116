//go:build !linux

// Package kernel has the system calls of the sandbox helper; it is empty here.
package kernel
