//go:build !linux

package sandbox

func machineFacts() []string { return nil }
