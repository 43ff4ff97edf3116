package sandbox

// The helper is this program's own binary, so whoever can start a sandbox must be
// able to be one.
import (
	_ "github.com/lictor-policy/lictor/internal/boot"
	_ "github.com/lictor-policy/lictor/internal/sandbox/probe" // what Verify attacks with
)
