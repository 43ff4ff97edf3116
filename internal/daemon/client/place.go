package client

import "path/filepath"

// Names in the daemon's folder.
const (
	socketName = "daemon.sock"
	startLock  = "start.lock"
)

// Dir is the folder of the daemon of the user with this home folder.
func Dir(home string) string { return filepath.Join(home, ".lictor", "run") }

// Socket is the daemon's socket.
func Socket(home string) string { return filepath.Join(Dir(home), socketName) }
