package boot_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/lictor-policy/lictor/internal/boot"
)

// A helper must have ended before the os package, and with it nearly everything
// else, is initialised.
func TestHelperRunsFirst(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = []string{"LICTOR_BOOT=nobody", "GODEBUG=inittrace=1"}
	out, _ := cmd.CombinedOutput()
	assert.Equal(t, 125, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(out), "LICTOR_BOOT is set to an unknown role")
	for _, late := range []string{"os", "fmt", "reflect", "net", "encoding/json", "golang.org/x/sys/unix"} {
		assert.NotContains(t, strings.Split(string(out), "\n"), "init "+late+" ", "%s is initialised before the helper", late)
		assert.NotContains(t, string(out), "init "+late+" @", "%s is initialised before the helper", late)
	}
}

// A stray variable in the environment is an error, never a program that half runs.
func TestStrayVariable(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, role := range []string{"sandbox", "inner"} {
		cmd := exec.Command(self)
		cmd.Env = []string{"LICTOR_BOOT=" + role}
		out, _ := cmd.CombinedOutput()
		assert.Equal(t, 125, cmd.ProcessState.ExitCode())
		assert.Contains(t, string(out), "no sandbox was prepared")
	}
}
