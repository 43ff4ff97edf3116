package daemon

import (
	"errors"
	"time"

	"github.com/lictor-policy/lictor"
)

// Options of Serve. The zero value serves the current user until nobody called
// for half an hour, without HTTP.
type Options struct {
	// Home is the user's home folder; empty means the system's word for it.
	Home string
	// Engine are the options of every engine. Root, ProjectDir, Cwd, Home, Notify
	// and ShortLived are the daemon's own and are not looked at.
	Engine lictor.Options
	// Idle is how long the daemon stays without a call; 0 means 30 minutes, less
	// than 0 for ever.
	Idle time.Duration
	// MaxRoots is how many engines are kept; 0 means 8. The one that was not used
	// for the longest time goes first.
	MaxRoots int
	// HTTP is a loopback address such as "127.0.0.1:7433" or "127.0.0.1:0", empty
	// for none. The token lies in TokenFile(Home).
	HTTP string
	// Notify gets notices, one line each; nil drops them.
	Notify func(notice string)
	// Ready is called once when the daemon listens; nil is fine. http is its
	// address, "" without HTTP.
	Ready func(socket, http string)
}

const (
	defaultIdle  = 30 * time.Minute
	defaultRoots = 8
)

// ErrRunning is the error of Serve if the user has a daemon already.
var ErrRunning = errors.New("a lictor daemon is running already")

// ErrUnsupported is the error of Serve on systems on which the kernel does not
// tell who is on the other side of a socket.
var ErrUnsupported = errors.New("lictor serve does not run on this system: hooks decide every call in a process of their own (`lictor hook`)")
