package approve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// The test program is re-executed as the process that asks: on a terminal (in
// tmux), or through the queue.
func TestMain(m *testing.M) {
	switch os.Getenv("APPROVE_TEST_ROLE") {
	case "terminal":
		os.Exit(askOnTerminal())
	case "queue":
		os.Exit(askThroughQueue())
	}
	os.Exit(m.Run())
}

// outcome is what a re-executed process writes down.
type outcome struct {
	Reply model.Reply
	Err   string
}

func askOnTerminal() int {
	var job struct {
		Request model.Request
		Options TerminalOptions
		Limit   time.Duration
		Panic   bool
		Out     string
	}
	data, err := os.ReadFile(os.Getenv("APPROVE_TEST_JOB"))
	if err == nil {
		err = json.Unmarshal(data, &job)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx := context.Background()
	if job.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, job.Limit)
		defer cancel()
	}
	terminal := NewTerminal(job.Options)
	if job.Panic {
		start := time.Now()
		terminal.now = func() time.Time {
			if time.Since(start) > 1500*time.Millisecond {
				panic("the clock broke")
			}
			return time.Now()
		}
	}
	reply, err := Ask(ctx, terminal, job.Request)
	out := outcome{Reply: reply}
	if err != nil {
		out.Err = err.Error()
	}
	text, _ := json.Marshal(out)
	if err := os.WriteFile(job.Out+".new", text, 0o600); err != nil {
		return 1
	}
	if err := os.Rename(job.Out+".new", job.Out); err != nil {
		return 1
	}
	fmt.Println("BACK IN THE SHELL")
	return 0
}
