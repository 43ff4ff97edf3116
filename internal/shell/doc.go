// Package shell reads shell commands the way a shell would, and says which
// simple commands a text can run.
//
// Analyze is pure and total: it touches no file, never panics and never hangs,
// because limits are checked before the parser sees a byte. It answers with a
// model.Command:
//
//   - Parts, the simple commands found by syntax. Allow rules match these.
//   - Inner, what a part really runs behind wrappers, runners, nested scripts
//     and options that run programs. Only deny and ask rules match these.
//   - Opaque and Reasons, when the text may run something that is not listed.
//     The parser is not sound by itself: it accepts texts and reports fewer
//     commands than a shell runs, so every known shape of that kind is a tree
//     check that makes the text opaque (see trust.go).
//
// The road through the package:
//
//	limits.go   what the raw text may look like at all
//	parse.go    the parsers, one per grammar
//	walk.go     statements and constructs, in order
//	word.go     the value of a word, its fixed spelling
//	trust.go    tree checks against parser defects and second expansions
//	peel.go     what a command really runs; wrappers.go, scripts.go, git.go,
//	            interp.go and the table_*.go files know the programs
//	paths.go    files and hosts that a command names
//	lines.go    spellings of pipelines and whole commands
//	deny.go     everything that a deny rule must be tried on
//	options.go  `rm -fr x` is `rm -rf x`
//
// Current limitations: a program that runs other programs by itself (make
// targets, npm scripts, hooks, unknown wrappers) cannot be seen through, nor
// can aliases and functions that the shell inherited. PowerShell, cmd.exe, fish
// and nushell are not read; a call to one of them with a script is opaque.
package shell
