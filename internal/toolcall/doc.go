// Package toolcall reads a tool call: which targets does it touch, of which
// class is it, does it only read?
//
// What a tool touches is data, not code: one table (tools.json) names every tool
// of lictor, of permission files and of the agents, and says which argument
// holds which target. This package reads the table strictly, decodes arguments
// strictly (malformed JSON, duplicate keys, a wrong type or the absence of an
// argument that a target needs are input errors, SPEC section 1), and hands out
// targets with raw values. It asks no disk, parses no shell text and knows no
// host: the path guard, the shell analysis and netguard fill in the rest.
//
// # When in doubt, more targets
//
// Agents disagree about the spelling of arguments, so a tool accepts several
// ("path", "file_path", "filePath"). If a call has more than one of them, every
// one is a target, because nobody but the agent knows which it will use. A key
// that differs from a spelling only by letter case is refused: some agents would
// take it for the same argument, others ignore it. Where targets cannot be known
// (a diff without headers, a glob that selects files to read), the call is
// marked Unextractable and no rule may allow it.
package toolcall
