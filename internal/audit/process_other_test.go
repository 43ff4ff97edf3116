//go:build unix && !linux

package audit

import "errors"

func childFull([]string) error { return errors.New("no-mount: only on Linux") }
