package sandbox

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is chosen, and whose word an error names.
func TestChoose(t *testing.T) {
	broken := errors.New("not permitted")
	for name, c := range map[string]struct {
		give   Selection
		works  []Executor
		want   Executor
		notice string
		err    string
	}{
		"best first":                      {works: []Executor{Native, Bubblewrap}, want: Native},
		"second, and says so":             {works: []Executor{Bubblewrap}, want: Bubblewrap, notice: "native does not work (not permitted)"},
		"never landlock by itself":        {works: []Executor{Landlock}, want: Host, notice: "commands run without isolation"},
		"auto without any":                {want: Host, notice: "commands run without isolation"},
		"os without any":                  {give: Selection{Setting: "os"}, err: "not permitted"},
		"macOS":                           {give: Selection{GOOS: "darwin"}, works: []Executor{Seatbelt}, want: Seatbelt},
		"Windows":                         {give: Selection{GOOS: "windows"}, works: []Executor{Native}, want: Host, notice: "WSL 2"},
		"host asked for":                  {give: Selection{Setting: "host"}, works: []Executor{Native}, want: Host},
		"landlock asked for":              {give: Selection{Setting: "landlock"}, works: []Executor{Landlock}, want: Landlock, notice: "alone cannot protect"},
		"landlock asked for, none":        {give: Selection{Setting: "landlock"}, works: []Executor{Native}, err: "not permitted"},
		"unknown":                         {give: Selection{Setting: "docker"}, err: `"docker"`},
		"strict without any":              {give: Selection{Strict: true}, err: "strict profile: "},
		"strict, host":                    {give: Selection{Strict: true, Setting: "host"}, works: []Executor{Native}, err: "strict profile: "},
		"strict, landlock":                {give: Selection{Strict: true, Setting: "landlock"}, works: []Executor{Landlock}, err: "strict profile: "},
		"requireSandbox without any":      {give: Selection{RequireSandbox: true}, err: `the team policy requires the OS sandbox ("requireSandbox"): `},
		"requireSandbox, host":            {give: Selection{RequireSandbox: true, Setting: "host"}, works: []Executor{Native}, err: `("requireSandbox"): the settings file says that "executor" is "host"`},
		"strict, requireSandbox and host": {give: Selection{Strict: true, RequireSandbox: true, Setting: "host"}, err: "strict profile: "},
		"requireSandbox holds":            {give: Selection{RequireSandbox: true}, works: []Executor{Native}, want: Native},
	} {
		t.Run(name, func(t *testing.T) {
			if c.give.GOOS == "" {
				c.give.GOOS = "linux"
			}
			c.give.Probe = func(e Executor) error {
				for _, w := range c.works {
					if w == e {
						return nil
					}
				}
				return broken
			}
			got, err := Choose(c.give)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.Zero(t, got, "an executor beside an error")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Executor)
			assert.Equal(t, c.want.Isolation(), got.Isolation)
			if c.notice == "" {
				assert.Empty(t, got.Notice)
			} else {
				assert.Contains(t, got.Notice, c.notice)
			}
		})
	}
}
