//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/daemon/client"
	"github.com/lictor-policy/lictor/internal/hook"
)

func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2].Round(time.Microsecond), took[len(took)*99/100].Round(time.Microsecond)
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The client's fixed texts are what the dialects say.
func TestRefusals(t *testing.T) {
	const reason = "no \"way\" \\ out\nthere\x1b[0m \u202e…"
	for _, agent := range hook.Names() {
		d, err := hook.Find(agent)
		assert.NoError(t, err)
		assert.True(t, client.Known(agent), agent)
		want, got := d.Block(reason), client.Refuse(agent, nil, reason)
		assert.Equal(t, string(want.Stdout), string(got.Stdout), agent)
		assert.Equal(t, string(want.Stderr), string(got.Stderr), agent)
		assert.Equal(t, want.Code, got.Code, agent)
		if !slices.Contains(d.Contract().Kinds, hook.PermissionRequest) {
			continue
		}
		// A permission request is refused in its own words.
		in := []byte(`{"tool_input":{"hook_event_name":"PreToolUse"},"hook_event_name":"PermissionRequest","tool_name":"Bash"}`)
		event, _ := d.Decode(in)
		if event == nil {
			continue
		}
		want, got = d.Refuse(event, reason), client.Refuse(agent, in, reason)
		if agent == "copilot" {
			continue // one text refuses all of its events
		}
		assert.Equal(t, string(want.Stdout), string(got.Stdout), agent)
		assert.Equal(t, want.Code, got.Code, agent)
	}
	assert.Equal(t, hook.Deadline, client.Deadline)
	for _, agent := range hook.Names() {
		d, _ := hook.Find(agent)
		if name := d.Contract().ProjectVar; name != "" {
			assert.True(t, client.IsProjectVar(name), name)
		}
	}
}

// Every place of the configuration is looked at, or is known to decide nothing.
func TestWatchList(t *testing.T) {
	decideNothing := []string{"AuditDir", "ApprovalsDir", "TmpDir"}
	p := config.PlacesFor("linux", "/work/project", "/home/me", nil)
	watching := map[string]bool{}
	for _, w := range watchList(p) {
		watching[w.path] = true
	}
	for _, tree := range treeList(p, nil) {
		watching[tree] = true
	}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i).Interface().(type) {
		case string:
			if name != "GOOS" && !slices.Contains(decideNothing, name) {
				assert.True(t, watching[f], "%s (%s) is not watched", name, f)
			}
		case []string:
			for _, path := range f {
				assert.True(t, watching[path], "%s (%s) is not watched", name, path)
			}
		}
	}
}

// The client is small, because it is started for every call, and holds none of
// what makes the others big.
func TestThinClient(t *testing.T) {
	info, err := os.Stat(program(t, "lictor-hook"))
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(5<<20))
	out, err := exec.Command("go", "list", "-deps", "../../cmd/lictor-hook").Output()
	require.NoError(t, err)
	for dep := range strings.FieldsSeq(string(out)) {
		for _, big := range []string{"github.com/open-policy-agent", "github.com/spf13", "encoding/json", "net/http"} {
			assert.False(t, strings.HasPrefix(dep, big), dep)
		}
		assert.NotEqual(t, "github.com/lictor-policy/lictor", dep)
		assert.NotEqual(t, "net", dep)
	}
}
