package toolcall

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// shells are the programs whose `-c text` is the text itself: what an agent puts
// in front of a command to run it. Only these exact spellings: any other program
// is part of the command.
var shells = map[string]string{
	"bash": "bash", "/bin/bash": "bash", "/usr/bin/bash": "bash",
	"zsh": "zsh", "/bin/zsh": "zsh", "/usr/bin/zsh": "zsh",
	"sh": "sh", "/bin/sh": "sh", "/usr/bin/sh": "sh",
}

// command reads a shell command: a text, or a program with its arguments.
func (r *reader) command(a *argEntry, from string, v value) error {
	text, ok := v.text()
	if !ok {
		if !r.tool.argv {
			return r.wrong(from, "must be a string")
		}
		argv, ok := v.texts()
		if !ok {
			return r.wrong(from, "must be a string, or a list of a program and its arguments")
		}
		var shell string
		if text, shell = ofArgv(argv); shell != "" {
			if err := r.hint(from, shell); err != nil {
				return err
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		if a.Optional {
			return nil
		}
		return r.wrong(from, "must not be empty")
	}
	for i := range r.out.Targets {
		if t := &r.out.Targets[i]; t.Kind == model.KindCommand && t.Source == text {
			return nil
		}
	}
	r.out.Targets = append(r.out.Targets, model.Target{Kind: model.KindCommand, Command: &model.Command{Source: text}})
	return nil
}

// ofArgv is the shell text that does what a program with arguments does, and the
// shell that reads it if the program is one: `bash -lc text` is text.
func ofArgv(argv []string) (text, shell string) {
	if len(argv) == 3 && (argv[1] == "-c" || argv[1] == "-lc") {
		if shell := shells[argv[0]]; shell != "" {
			return argv[2], shell
		}
	}
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoted(word)
	}
	text = strings.Join(words, " ")
	if len(argv) > 0 && isPowerShell(argv[0]) {
		return text, HintPowerShell
	}
	return text, ""
}

// quoted is a word as a shell text has it.
func quoted(word string) string {
	plain := word != ""
	for i := range len(word) {
		c := word[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_./:,@%+", c) >= 0) {
			plain = false
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shell reads the shell that the call wants its commands to be run by. It comes
// behind the commands in the table. A program that is no known shell becomes
// part of the command, because it is what runs.
func (r *reader) shell(from string, v value) error {
	program, ok := v.text()
	switch {
	case !ok:
		return r.wrong(from, "must be a string")
	case program == "":
		return nil
	case isPowerShell(program):
		return r.hint(from, HintPowerShell)
	case shells[program] != "":
		return r.hint(from, shells[program])
	}
	for i := range r.out.Targets {
		if t := &r.out.Targets[i]; t.Kind == model.KindCommand {
			t.Source = quoted(program) + " -c " + quoted(t.Source)
		}
	}
	return nil
}

// hint notes how the command is read. A text that no shell of lictor's reads
// stays one, whatever else the call says.
func (r *reader) hint(from, hint string) error {
	switch have := r.out.ShellHint; {
	case have == "" || hint == HintPowerShell:
		r.out.ShellHint = hint
	case have != hint && shellNames[have]:
		return r.wrong(from, "names another shell than the call names already")
	}
	return nil
}

var shellNames = map[string]bool{"bash": true, "zsh": true, "sh": true}

func isPowerShell(program string) bool {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	switch strings.TrimSuffix(name, ".exe") {
	case "powershell", "pwsh", "cmd":
		return true
	}
	return false
}
