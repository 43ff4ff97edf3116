// Package config reads everything that tells lictor how to decide: the
// project's settings, the permission files' texts, the team policy and the
// user's trust pins. It knows where these files lie, reads them without being
// led astray by hostile ones, validates them strictly, merges the team policy in
// Rego and gates what a project would loosen behind the user's consent.
//
// The road through it is Load: Read reads the files at their Places and merges the
// team policy's layers, Gate leaves out what nobody consented to, and the Config
// that comes out is what applies. Nothing here decides about a call.
//
// # Hostile projects
//
// Whatever lies in a project may come from a stranger's repository. Its files are
// opened without following links or waiting for pipes, bounded in size and depth,
// and read strictly; a file that is not as it should be stops everything by an
// error that names it. What the files loosen is left out until the user has
// accepted exactly that, for exactly this folder. What they tighten always
// applies.
//
// # Limits
//
// On Windows a project's file is checked by name before it is opened, and compared
// afterwards, because there is no openat; the owners of managed files are checked
// for the file and its folder, not for every folder above.
package config
