//go:build !unix

package sandbox

const nonBlock = 0
