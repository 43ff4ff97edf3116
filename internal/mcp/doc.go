// Package mcp speaks the Model Context Protocol on both sides.
//
// [NewServer] offers lictor's decisions as tools: an agent that cannot be hooked
// asks about a call before it makes it, and an agent with a permission prompt
// tool lets lictor and its user answer its questions.
//
// [Proxy] stands before any MCP server: it decides each tools/call as
// mcp__SERVER__TOOL, hides tools that a rule denies whatever their arguments, and
// passes every other message through, byte for byte.
package mcp
