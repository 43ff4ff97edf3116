// Package daemon keeps engines warm: one process of the user decides the hook
// calls of all agents and projects, because opening an engine takes much longer
// than a decision.
//
// [Serve] listens on a Unix socket in a folder that belongs to the user alone
// and serves nobody else. A verdict is never older than the files that it comes
// from: before each call the places of all files are looked at, and what changed
// is read again first. If it cannot be read, the last good rules decide, and the
// answer says so. The daemon ends when nobody needs it; clients start it when
// they miss it, and decide the call themselves until it is there.
//
// On request it also listens on a loopback address for agents that call their
// hooks by HTTP, and answers as OPA would. Both need a token.
//
// [Once] is the same road for one call without a daemon.
package daemon
