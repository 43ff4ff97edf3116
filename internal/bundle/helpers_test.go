package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// b0 is a time long ago.
var b0 = time.Unix(1000000000, 0)

// opaFolder is where the binary was built, if it was.
var opaFolder string

var buildOPA = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lictor-opa-")
	if err != nil {
		return "", err
	}
	opaFolder = dir
	binary := filepath.Join(dir, "opa")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/open-policy-agent/opa").CombinedOutput()
	if err != nil {
		return "", &exec.ExitError{Stderr: out}
	}
	return binary, nil
})

// opaBinary builds the stock OPA that go.mod names, once, with the build cache.
func opaBinary(t testing.TB) string {
	t.Helper()
	binary, err := buildOPA()
	require.NoError(t, err)
	return binary
}

func TestMain(m *testing.M) {
	code := m.Run()
	if opaFolder != "" {
		os.RemoveAll(opaFolder)
	}
	os.Exit(code)
}
