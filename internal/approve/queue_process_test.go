package approve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// questionOf is the question about call n, the same in every process.
func questionOf(n int) model.Request {
	return model.Request{
		Tool: "bash", CallID: fmt.Sprintf("call-%d", n),
		Targets: []model.Target{{Kind: model.KindCommand, Command: &model.Command{
			Source: fmt.Sprintf("make target-%d", n), Grade: model.GradeStatic, Parts: []model.Part{{Text: "make", Args: []string{}}},
		}}},
		Session: []model.SessionRule{{Kind: model.SessionTool, Tool: "bash"}},
	}
}

// askThroughQueue asks the questions from..to that have no result yet, all at
// once, and writes each result down exactly once.
func askThroughQueue() int {
	dir, results := os.Getenv("APPROVE_TEST_DIR"), os.Getenv("APPROVE_TEST_RESULTS")
	from, _ := strconv.Atoi(os.Getenv("APPROVE_TEST_FROM"))
	to, _ := strconv.Atoi(os.Getenv("APPROVE_TEST_TO"))
	queue, err := OpenQueue(dir, QueueOptions{Limit: time.Minute, Poll: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var wg sync.WaitGroup
	for n := from; n < to; n++ {
		file := filepath.Join(results, strconv.Itoa(n))
		if _, err := os.Stat(file); err == nil {
			continue
		}
		wg.Go(func() {
			ctx := context.Background()
			if unanswered(n) {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 4*time.Second)
				defer cancel()
			}
			reply, err := Ask(ctx, queue, questionOf(n))
			out := outcome{Reply: reply}
			if err != nil {
				out.Err = err.Error()
			}
			data, _ := json.Marshal(out)
			temp := file + ".new" + strconv.Itoa(os.Getpid())
			if os.WriteFile(temp, data, 0o600) != nil || os.Link(temp, file) != nil {
				fmt.Println("a second result for", n)
				os.Exit(3)
			}
		})
	}
	wg.Wait()
	return 0
}

func unanswered(n int) bool { return n%10 == 9 }

// given is a successful answer, by the name that it was given under.
type given struct {
	question string
	answer   model.Answer
}

func TestQueueLosesAndDoublesNothingThroughRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	dir, results := filepath.Join(t.TempDir(), "store"), t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	const calls, perProcess = 100, 20
	start := func(group int) *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "APPROVE_TEST_ROLE=queue", "APPROVE_TEST_DIR="+dir, "APPROVE_TEST_RESULTS="+results,
			fmt.Sprintf("APPROVE_TEST_FROM=%d", group*perProcess), fmt.Sprintf("APPROVE_TEST_TO=%d", (group+1)*perProcess))
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		require.NoError(t, cmd.Start())
		return cmd
	}
	done := make(chan struct{})
	answers := answerAll(t, dir, done)
	var wg sync.WaitGroup
	for group := range calls / perProcess {
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(group)))
			for range 4 {
				cmd := start(group)
				time.Sleep(time.Duration(200+r.Intn(500)) * time.Millisecond)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
			assert.NoError(t, start(group).Wait())
		})
	}
	wg.Wait()
	close(done)
	gave := answers()
	used := map[string]bool{}
	for n := range calls {
		data, err := os.ReadFile(filepath.Join(results, strconv.Itoa(n)))
		require.NoError(t, err, "call %d is lost", n)
		var out outcome
		require.NoError(t, json.Unmarshal(data, &out))
		if unanswered(n) {
			assert.Equal(t, model.AnswerDeny, out.Reply.Answer)
			assert.Equal(t, ErrTimeout.Error(), out.Err)
			continue
		}
		require.Empty(t, out.Err, "call %d", n)
		require.Contains(t, gave, out.Reply.By, "an answer that nobody gave")
		assert.Equal(t, gave[out.Reply.By].answer, out.Reply.Answer)
		assert.False(t, used[out.Reply.By], "an answer used twice")
		used[out.Reply.By] = true
	}
	queue, err := OpenQueue(dir, QueueOptions{})
	require.NoError(t, err)
	open, err := queue.List()
	require.NoError(t, err)
	assert.Empty(t, open)
}

// answerAll answers everything that comes up from three sides at once. The
// function that it returns waits and says what was given.
func answerAll(t *testing.T, dir string, done chan struct{}) func() map[string]given {
	var mu sync.Mutex
	gave, questions := map[string]given{}, map[string]bool{}
	var wg sync.WaitGroup
	for side := range 3 {
		wg.Go(func() {
			queue, err := OpenQueue(dir, QueueOptions{Poll: 10 * time.Millisecond})
			if !assert.NoError(t, err) {
				return
			}
			r := rand.New(rand.NewSource(int64(side)))
			for count := 0; ; {
				select {
				case <-done:
					return
				case <-time.After(30 * time.Millisecond):
				}
				open, err := queue.List()
				assert.NoError(t, err)
				r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
				for _, q := range open[:min(len(open), 4)] {
					var n int
					_, _ = fmt.Sscanf(q.Request.CallID, "call-%d", &n)
					if unanswered(n) {
						continue
					}
					count++
					name := fmt.Sprintf("side-%d-%d", side, count)
					answer := []model.Answer{model.AnswerOnce, model.AnswerSession, model.AnswerDeny}[r.Intn(3)]
					err := queue.Answer(q.ID, answer, name, "test")
					if err != nil {
						late := errors.Is(err, ErrAnswered) || errors.Is(err, ErrNoQuestion)
						assert.True(t, late, "%v", err)
						continue
					}
					mu.Lock()
					assert.False(t, questions[q.ID], "question %s was answered twice", q.ID)
					questions[q.ID] = true
					gave[name] = given{q.ID, answer}
					mu.Unlock()
				}
			}
		})
	}
	return func() map[string]given { wg.Wait(); return gave }
}
