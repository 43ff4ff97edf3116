package facts

import (
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/shell"
)

// opaqueWords says for people why a command is opaque.
func opaqueWords(c *model.Command) []string { return shell.Describe(c) }
