//go:build linux && !amd64 && !arm64

package kernel

// sysSeccomp does not exist: there is no filter for this architecture, and without
// one no sandbox is built.
const sysSeccomp = ^uintptr(0)
