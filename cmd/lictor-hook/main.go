// Lictor-hook answers one hook call of an AI coding agent: it hands the call to
// lictor's daemon and the answer back.
package main

import (
	"os"

	"github.com/lictor-policy/lictor/internal/daemon/client"
)

func main() { os.Exit(client.Main(os.Args[1:])) }
