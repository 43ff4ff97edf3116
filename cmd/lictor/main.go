// Lictor decides whether an AI coding agent may make a tool call.
package main

import (
	"os"

	"github.com/lictor-policy/lictor/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
