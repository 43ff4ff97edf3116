package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// reference writes every command with its flags as Markdown: the part of
// docs/reference.md that must never lag behind. A test holds the file against it.
func reference() string {
	var b strings.Builder
	root := newRoot(&streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Runnable() && c != root && !c.HasSubCommands() {
			describeCommand(&b, c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return b.String()
}

func describeCommand(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "### %s\n\n%s.\n", strings.TrimSuffix(c.UseLine(), " [flags]"), strings.TrimSuffix(c.Short, "."))
	var rows []string
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + strings.ToUpper(value)
		}
		byDefault := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
			byDefault = f.DefValue
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", name, strings.ReplaceAll(usage, "|", "\\|"), byDefault))
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	if len(rows) > 0 {
		b.WriteString("\n| flag | meaning | default |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n")
	}
	b.WriteString("\n")
}
