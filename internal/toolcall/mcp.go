package toolcall

import "strings"

// mcpName is the name of a tool of an MCP server, taken apart. Its parts may be
// empty where an agent does not say them.
type mcpName struct{ server, tool string }

// parseMCP recognises the spellings of MCP tools: `mcp__server__tool`,
// `mcp/server/tool`, Gemini CLI's and VS Code's `mcp_server_tool`, and Cursor's
// `MCP:tool`, which does not say the server. The first separator behind the
// server ends it, so `mcp_a_b_c` is tool b_c of server a: a rule for a server
// whose name holds the separator must name the tool as the agent says it.
func parseMCP(name string) (mcpName, bool) {
	if len(name) < 4 || name[0] != 'm' && name[0] != 'M' {
		return mcpName{}, false
	}
	var rest, sep string
	switch {
	case strings.HasPrefix(name, "mcp__"):
		rest, sep = name[5:], "__"
	case strings.HasPrefix(name, "mcp/"):
		rest, sep = name[4:], "/"
	case strings.HasPrefix(name, "mcp_"):
		rest, sep = name[4:], "_"
	case strings.HasPrefix(name, "MCP:"):
		return mcpName{tool: name[4:]}, true
	default:
		return mcpName{}, false
	}
	server, tool, _ := strings.Cut(rest, sep)
	return mcpName{server, tool}, true
}

// canonical is `mcp__server__tool`, or the name itself where a part is missing.
func (m mcpName) canonical(name string) string {
	if m.server == "" || m.tool == "" || strings.HasPrefix(name, "mcp__") {
		return name
	}
	return "mcp__" + m.server + "__" + m.tool
}

// descriptor is what MCP rules match: `server/tool`.
func (m mcpName) descriptor() string {
	switch {
	case m.server == "":
		return m.tool
	case m.tool == "":
		return m.server
	}
	return m.server + "/" + m.tool
}
