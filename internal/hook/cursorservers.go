package hook

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lictor-policy/lictor/internal/toolcall"
)

// maxServers is how much of an mcp.json is read.
const maxServers = 1 << 20

// cursorServer finds the name of the MCP server that was started by url or
// command in the mcp.json files of the workspaces and of the user. It is "" if
// there is none, or if two names fit: a guess could miss a deny rule.
func cursorServer(roots []string, url, command string) string {
	if url == "" && command == "" {
		return ""
	}
	files := make([]string, 0, len(roots)+1)
	for _, root := range roots {
		files = append(files, filepath.Join(root, ".cursor", "mcp.json"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".cursor", "mcp.json"))
	}
	var found string
	for _, file := range files {
		for name, started := range readServers(file) {
			if !started.is(url, command) {
				continue
			}
			if found != "" && found != name {
				return ""
			}
			found = name
		}
	}
	return found
}

// server is how mcp.json says that a server is reached.
type server struct {
	URL     string   `json:"url"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// is compares with the event's words: the url, or the command with or without its
// arguments.
func (s server) is(url, command string) bool {
	if url != "" {
		return s.URL == url
	}
	return s.Command != "" && (command == strings.Join(append([]string{s.Command}, s.Args...), " ") ||
		command == s.Command && len(s.Args) == 0)
}

// readServers reads one mcp.json. What cannot be read names no server.
func readServers(file string) map[string]server {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxServers))
	if err != nil || toolcall.Strict(data) != nil {
		return nil
	}
	var in struct {
		Servers map[string]server `json:"mcpServers"`
	}
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	return in.Servers
}
