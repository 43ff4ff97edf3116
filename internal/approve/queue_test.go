package approve

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

func testQueue(t *testing.T, limit time.Duration) *Queue {
	t.Helper()
	q, err := OpenQueue(filepath.Join(t.TempDir(), "deep", "store"), QueueOptions{Limit: limit, Poll: 5 * time.Millisecond, Folder: "/project", Agent: "tester"})
	require.NoError(t, err)
	return q
}

type result struct {
	reply model.Reply
	err   error
}

func start(ctx context.Context, a model.Approver, r model.Request) chan result {
	out := make(chan result, 1)
	go func() {
		reply, err := Ask(ctx, a, r)
		out <- result{reply, err}
	}()
	return out
}

func only(t *testing.T, q *Queue) Question {
	t.Helper()
	var open []Question
	require.Eventually(t, func() bool {
		var err error
		open, err = q.List()
		require.NoError(t, err)
		return len(open) == 1
	}, 5*time.Second, 5*time.Millisecond)
	return open[0]
}

func TestQueueAnswers(t *testing.T) {
	q := testQueue(t, time.Minute)
	r := change(threeLines())
	done := start(t.Context(), q, r)
	question := only(t, q)
	assert.True(t, question.Waiting)
	assert.Equal(t, "/project", question.Folder)
	assert.Equal(t, "tester", question.Agent)
	assert.Equal(t, os.Getpid(), question.PID)
	shown, err := q.Show(question.ID[:4])
	require.NoError(t, err)
	assert.Equal(t, Document(&r), Document(&shown.Request), "the question says the same from afar")

	assert.ErrorContains(t, q.Answer(question.ID, model.AnswerNever, "ana", "x"), "none of those that were offered")
	assert.ErrorContains(t, q.AnswerReply(question.ID, model.Reply{Answer: model.AnswerOnce, Hunks: []int{9}}), "no hunk 9")
	require.NoError(t, q.AnswerReply(question.ID[:5], model.Reply{Answer: model.AnswerSession, Hunks: []int{2}, For: time.Hour, By: "ana", From: "her phone"}))
	assert.ErrorIs(t, q.Answer(question.ID, model.AnswerDeny, "bob", "x"), ErrAnswered)
	got := <-done
	require.NoError(t, got.err)
	assert.WithinDuration(t, time.Now(), got.reply.At, time.Minute)
	got.reply.At = time.Time{}
	assert.Equal(t, model.Reply{Answer: model.AnswerSession, Hunks: []int{2}, For: time.Hour, By: "ana", From: "her phone"}, got.reply)
	assert.ErrorIs(t, q.Answer(question.ID, model.AnswerDeny, "bob", "x"), ErrAnswered, "later too")
	assert.ErrorIs(t, q.Answer("aaaaaaaaaa", model.AnswerDeny, "bob", "x"), ErrNoQuestion)
	for _, bad := range []string{"", "../x", "a/b", "*", "a.b"} {
		_, err := q.Show(bad)
		assert.ErrorIs(t, err, ErrNoQuestion, bad)
	}
}

func threeLines() model.Change {
	long := strings.Repeat("same\n", 9)
	return model.Change{Path: "f", Old: text("a\n" + long + "b\n"), New: "A\n" + long + "B\n"}
}

func TestQueueClosesInTime(t *testing.T) {
	q := testQueue(t, 150*time.Millisecond)
	done := start(t.Context(), q, command(t, "make"))
	question := only(t, q)
	got := <-done
	assert.ErrorIs(t, got.err, ErrTimeout)
	assert.Equal(t, model.AnswerDeny, got.reply.Answer)
	assert.ErrorIs(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"), ErrExpired)
	open, err := q.List()
	require.NoError(t, err)
	assert.Empty(t, open)
}

func TestQueueWithdraws(t *testing.T) {
	q := testQueue(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	done := start(ctx, q, command(t, "make"))
	question := only(t, q)
	cancel()
	got := <-done
	assert.ErrorIs(t, got.err, ErrWithdrawn)
	assert.ErrorIs(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"), ErrWithdrawn)
}

func TestQueueContinuesAQuestionWithoutItsProcess(t *testing.T) {
	q := testQueue(t, time.Minute)
	r := command(t, "make")
	r.CallID = "call-1"
	// What a process leaves behind that was killed while it waited.
	question, lock, err := q.put(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, lock.file.Close())
	shown, err := q.Show(question.ID)
	require.NoError(t, err)
	assert.False(t, shown.Waiting)

	done := start(t.Context(), q, r)
	require.Eventually(t, func() bool { s, err := q.Show(question.ID); return err == nil && s.Waiting }, 5*time.Second, 5*time.Millisecond)
	// The same call while somebody waits is another question.
	second := start(t.Context(), q, r)
	require.Eventually(t, func() bool { open, _ := q.List(); return len(open) == 2 }, 5*time.Second, 5*time.Millisecond)
	require.NoError(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"))
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, model.AnswerOnce, got.reply.Answer)
	require.NoError(t, q.Answer(only(t, q).ID, model.AnswerDeny, "ana", "x"))
	assert.Equal(t, model.AnswerDeny, (<-second).reply.Answer)

	// An answer is used once: the same call asks again.
	third := start(t.Context(), q, r)
	require.NoError(t, q.Answer(only(t, q).ID, model.AnswerSession, "ana", "x"))
	assert.Equal(t, model.AnswerSession, (<-third).reply.Answer)
}

func TestQueueUsesAnAnswerThatCameWhileNobodyWaited(t *testing.T) {
	q := testQueue(t, time.Minute)
	r := command(t, "make")
	r.CallID = "call-1"
	question, lock, err := q.put(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, lock.file.Close())
	require.NoError(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"))
	got := <-start(t.Context(), q, r)
	require.NoError(t, got.err)
	assert.Equal(t, model.AnswerOnce, got.reply.Answer)
}

func TestQueueAsksAnewWhenTheOldQuestionRanOut(t *testing.T) {
	q := testQueue(t, 50*time.Millisecond)
	r := command(t, "make")
	r.CallID = "call-1"
	old, lock, err := q.put(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, lock.file.Close())
	time.Sleep(60 * time.Millisecond)
	q.options.Limit = time.Minute
	done := start(t.Context(), q, r)
	question := only(t, q)
	assert.NotEqual(t, old.ID, question.ID)
	require.NoError(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"))
	assert.Equal(t, model.AnswerOnce, (<-done).reply.Answer)
}

func TestQueueOfManyIsAnsweredOnceEach(t *testing.T) {
	q := testQueue(t, time.Minute)
	var wrong, answered atomic.Int32
	var asking, answering sync.WaitGroup
	stop := make(chan struct{})
	for n := range 100 {
		asking.Go(func() {
			reply, err := Ask(t.Context(), q, questionOf(n))
			if err != nil || reply.Answer != model.AnswerOnce {
				wrong.Add(1)
			}
		})
	}
	for range 4 {
		answering.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				open, _ := q.List()
				for _, question := range open {
					if q.Answer(question.ID, model.AnswerOnce, "ana", "x") == nil {
						answered.Add(1)
					}
				}
			}
		})
	}
	asking.Wait()
	close(stop)
	answering.Wait()
	assert.Zero(t, wrong.Load())
	assert.EqualValues(t, 100, answered.Load())
}

func TestQueueRefusesAnAnswerToAnotherText(t *testing.T) {
	q := testQueue(t, time.Minute)
	done := start(t.Context(), q, command(t, "make"))
	question := only(t, q)
	file := q.store.path(question.ID + questionFile)
	changed := question
	changed.Request = command(t, "ls")
	data, err := json.Marshal(changed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	require.NoError(t, q.Answer(question.ID, model.AnswerOnce, "ana", "x"))
	got := <-done
	assert.Equal(t, model.AnswerDeny, got.reply.Answer)
	assert.ErrorContains(t, got.err, "another text")
}

func TestQueueFailsClosedOnABrokenStore(t *testing.T) {
	t.Run("a broken answer", func(t *testing.T) {
		q := testQueue(t, time.Minute)
		done := start(t.Context(), q, command(t, "make"))
		question := only(t, q)
		require.NoError(t, q.store.publish(question.ID+decisionFile, []byte(`{"id":"`+question.ID+`","outcome":"answered","reply":{"answer":"once"},"more":1}`)))
		got := <-done
		assert.Equal(t, model.AnswerDeny, got.reply.Answer)
		assert.ErrorContains(t, got.err, "not an answer")
	})
	t.Run("an outcome of its own", func(t *testing.T) {
		q := testQueue(t, time.Minute)
		done := start(t.Context(), q, command(t, "make"))
		question := only(t, q)
		require.NoError(t, q.store.decide(&Decision{ID: question.ID, Outcome: "yes", Question: question.digest, Reply: model.Reply{Answer: model.AnswerOnce}}))
		got := <-done
		assert.Equal(t, model.AnswerDeny, got.reply.Answer)
		assert.Error(t, got.err)
	})
	t.Run("a broken question hides no other", func(t *testing.T) {
		q := testQueue(t, time.Minute)
		require.NoError(t, os.WriteFile(q.store.path("aaaaaaaaaa"+questionFile), []byte("{"), 0o600))
		done := start(t.Context(), q, command(t, "make"))
		require.Eventually(t, func() bool { open, err := q.List(); return len(open) == 1 && err != nil }, 5*time.Second, 5*time.Millisecond)
		open, err := q.List()
		assert.ErrorContains(t, err, "aaaaaaaaaa")
		require.NoError(t, q.Answer(open[0].ID, model.AnswerOnce, "ana", "x"))
		assert.Equal(t, model.AnswerOnce, (<-done).reply.Answer)
	})
	t.Run("no store", func(t *testing.T) {
		q := testQueue(t, time.Minute)
		require.NoError(t, os.RemoveAll(q.store.dir))
		got := <-start(t.Context(), q, command(t, "make"))
		assert.Equal(t, model.AnswerDeny, got.reply.Answer)
		assert.Error(t, got.err)
	})
}

func TestQueueIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	q := testQueue(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	done := start(ctx, q, command(t, "make"))
	question := only(t, q)
	info, err := os.Stat(q.store.dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(q.store.path(question.ID + questionFile))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	cancel()
	<-done

	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err = OpenQueue(dir, QueueOptions{})
	assert.ErrorContains(t, err, "chmod 700")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(q.store.dir, link))
	_, err = OpenQueue(link, QueueOptions{})
	assert.ErrorContains(t, err, "not a folder")
	_, err = OpenQueue("relative", QueueOptions{})
	assert.ErrorContains(t, err, "absolute")
}

func TestQueueWatch(t *testing.T) {
	q := testQueue(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	events := q.Watch(ctx)
	done := start(t.Context(), q, command(t, "make"))
	event := <-events
	require.NotNil(t, event.Question)
	require.NoError(t, q.Answer(event.ID, model.AnswerOnce, "ana", "x"))
	end := <-events
	assert.True(t, end.Ended())
	assert.Equal(t, event.ID, end.ID)
	require.NotNil(t, end.Decision)
	assert.Equal(t, OutcomeAnswered, end.Decision.Outcome)
	assert.Equal(t, "ana", end.Decision.Reply.By)
	<-done
	cancel()
	_, more := <-events
	assert.False(t, more)
}

func TestQueueSweepsWhatIsOld(t *testing.T) {
	q := testQueue(t, time.Minute)
	old := time.Now().Add(-2 * keepDecisions)
	for _, name := range []string{"aaaaaaaaaa" + decisionFile, "bbbbbbbbbb" + questionFile, tempStart + "x", "notes.txt"} {
		require.NoError(t, os.WriteFile(q.store.path(name), nil, 0o600))
		require.NoError(t, os.Chtimes(q.store.path(name), old, old))
	}
	require.NoError(t, os.WriteFile(q.store.path("cccccccccc"+decisionFile), nil, 0o600))
	q.store.sweep()
	entries, err := os.ReadDir(q.store.dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.ElementsMatch(t, []string{"notes.txt", "cccccccccc" + decisionFile}, names)
}
