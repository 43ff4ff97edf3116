// Package sandbox runs commands confined, and says precisely what the
// confinement is.
//
// # The road
//
// An ExecPolicy says what a command may touch (NewPolicy builds one from the
// settings, SPEC section 8). Inspect looks at the disk; MakePlan turns both into a
// Plan, an ordered list of mounts, masks, pins and limits, without looking at the
// disk again: a plan is a value that can be printed, compared and tested. An
// executor carries the plan out:
//
//   - native: user, mount, PID, IPC, network namespaces and the new mount calls, by
//     this program itself, with a system call filter and Landlock as inner layers;
//   - bwrap: the same plan through /usr/bin/bwrap, where only that program may make
//     user namespaces;
//   - landlock: Landlock and the filter alone. Degraded: it cannot protect a path
//     inside a writable folder. Only when settings ask for it;
//   - seatbelt: a sandbox-exec profile on macOS;
//   - host: no confinement. Only when settings say so.
//
// Choose picks one, once, and explains itself; it never falls back silently.
// Sandbox.Run prepares, runs, ends and checks: files that would have been harmful
// to the next program outside are put into quarantine and the run is marked
// failed.
//
// # What a Linux sandbox is made of
//
// The helper (package helper) is this program's own binary, started again and
// caught by package boot before anything else is initialised. It is process 1 of
// the sandbox. Everything is read-only except copies of the writable folders; what
// must not be read is covered; what must not change is a read-only mount point,
// and every folder on the way to it is pinned as a mount point so that it cannot
// be moved aside. Nothing follows a symbolic link.
//
// # Limits
//
// Not stopped: what a program does later, outside, with ordinary project files that
// the command was allowed to write (a package script, a Makefile); kernel bugs;
// other names of a secret that this package cannot know (backups, snapshots);
// a secret that the host creates or replaces by rename while a command runs.
package sandbox
