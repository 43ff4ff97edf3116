// Package client is the thin side of lictor's daemon: what cmd/lictor-hook does,
// and what the daemon and it share, the frames on the socket and the place of it.
//
// A hook call is a byte pipe: the agent's name and what the agent sent go to the
// daemon, the bytes that come back go to the agent. The daemon is believed only
// if its folder belongs to the user and to nobody else and the kernel says that
// the process on the other side is the user's own. Whatever fails on this way,
// the call is decided by the program `lictor` beside this one (the cold path);
// if that fails too, the answer is a fixed refusal in the agent's words. No
// failure allows a call.
//
// The package is a leaf: it imports neither the policy engine nor the command
// line, because a process is started for every call and must start fast.
package client
