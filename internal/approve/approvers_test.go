package approve

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// person is an approver made of a function.
type person func(ctx context.Context, r model.Request) (model.Answer, error)

func (p person) Ask(ctx context.Context, r model.Request) (model.Answer, error) { return p(ctx, r) }

// slow answers only when the context ends, as somebody who went to lunch.
func slow(ctx context.Context, _ model.Request) (model.Answer, error) {
	<-ctx.Done()
	return model.AnswerDeny, ctx.Err()
}

func TestAskTakesOnlyAClearYes(t *testing.T) {
	full := command(t, "go test ./...")
	bare := model.Request{Tool: "x"}
	cases := []struct {
		name     string
		request  model.Request
		approver model.Approver
		want     model.Answer
		err      string
	}{
		{"yes", full, NewScript(model.AnswerAlways), model.AnswerAlways, ""},
		{"no", full, NewScript(model.AnswerNever), model.AnswerNever, ""},
		{"nobody", full, nil, model.AnswerDeny, "nobody is there"},
		{"unattended", full, Unattended{"a CI job"}, model.AnswerDeny, "nobody is there to answer: a CI job"},
		{"a word of its own", full, NewScript("yes"), model.AnswerDeny, `"yes" is none of those`},
		{"nothing", full, NewScript(""), model.AnswerDeny, "none of those"},
		{"no rule to add", bare, NewScript(model.AnswerAlways), model.AnswerAlways, ""},
		{"left out", model.Request{Choices: []model.Answer{model.AnswerOnce}}, NewScript(model.AnswerSession), model.AnswerDeny, "(once, deny)"},
		{"yes with an error", full, person(func(context.Context, model.Request) (model.Answer, error) {
			return model.AnswerOnce, errors.New("the line broke")
		}), model.AnswerDeny, "the line broke"},
		{"a panic", full, person(func(context.Context, model.Request) (model.Answer, error) { panic("boom") }), model.AnswerDeny, "the approver failed: boom"},
		{"a script that ended", full, NewScript(), model.AnswerDeny, "unexpected question 1 about bash"},
		{"a limit on once", full, NewScriptReplies(model.Reply{Answer: model.AnswerOnce, For: time.Hour}), model.AnswerDeny, "time limit"},
		{"a hunk that is not there", full, NewScriptReplies(model.Reply{Answer: model.AnswerOnce, Hunks: []int{1}}), model.AnswerDeny, "no hunk 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Ask(t.Context(), c.approver, c.request)
			assert.Equal(t, c.want, got.Answer)
			if c.err == "" {
				assert.NoError(t, err)
				assert.False(t, got.At.IsZero())
			} else {
				assert.ErrorContains(t, err, c.err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	script := NewScript(model.AnswerOnce)
	_, err := Ask(ctx, script, full)
	assert.ErrorIs(t, err, ErrWithdrawn)
	assert.Empty(t, script.Asked())
	assert.Equal(t, 1, script.Left())
}

func TestHunksOfAReply(t *testing.T) {
	r := change(threeHunks())
	for _, c := range []struct {
		given, want []int
		answer      model.Answer
	}{
		{nil, nil, model.AnswerOnce},
		{[]int{3, 1, 3}, []int{1, 3}, model.AnswerOnce},
		{[]int{1, 2, 3}, nil, model.AnswerOnce},
		{[]int{}, nil, model.AnswerDeny},
	} {
		got, err := Checked(&r, model.Reply{Answer: model.AnswerOnce, Hunks: c.given})
		require.NoError(t, err)
		assert.Equal(t, c.answer, got.Answer)
		assert.Equal(t, c.want, got.Hunks)
	}
}

func TestChoices(t *testing.T) {
	r := command(t, "go test ./...")
	assert.Equal(t, Answers(), Choices(&r))
	r.Choices = []model.Answer{model.AnswerOnce, model.AnswerAlways}
	assert.Equal(t, []model.Answer{model.AnswerOnce, model.AnswerAlways, model.AnswerDeny}, Choices(&r), "no is always there")
	r.Labels = map[model.Answer]string{model.AnswerOnce: "run\u202e it"}
	assert.Equal(t, `run\u202e it`, Label(&r, model.AnswerOnce))
	assert.Equal(t, "yes, always", Label(&r, model.AnswerAlways))
	for text, want := range map[string]model.Answer{"y": "once", "Once": "once", " yes ": "once", "s": "session", "a": "always", "no": "deny", "n": "deny", "x": "never", "never": "never"} {
		got, ok := ParseAnswer(text)
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	_, ok := ParseAnswer("maybe")
	assert.False(t, ok)
}

func TestParseHunks(t *testing.T) {
	for text, want := range map[string][]int{"1": {1}, "1,3-5": {1, 3, 4, 5}, " 2 - 3 , 2": {2, 3}, "all": {1, 2, 3, 4, 5}, "none": {}} {
		got, err := ParseHunks(text, 5)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "6", "3-1", "1-", "x", "1,,2", "-1", "1-999999999999"} {
		_, err := ParseHunks(text, 5)
		assert.Error(t, err, text)
	}
}

func TestSerialShowsOneQuestionAtATime(t *testing.T) {
	var open, most atomic.Int32
	s := NewSerial(person(func(context.Context, model.Request) (model.Answer, error) {
		most.Store(max(most.Load(), open.Add(1)))
		time.Sleep(time.Millisecond)
		open.Add(-1)
		return model.AnswerOnce, nil
	}), SerialOptions{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := s.Ask(t.Context(), model.Request{Tool: "x"})
			assert.NoError(t, err)
			assert.Equal(t, model.AnswerOnce, got)
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, most.Load())
}

func TestSerialGivesUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSerial(person(slow), SerialOptions{Limit: time.Minute})
		begin := time.Now()
		first := start(t.Context(), s, model.Request{Tool: "x"})
		synctest.Wait()
		second := start(t.Context(), s, model.Request{Tool: "y"})
		ctx, cancel := context.WithCancel(t.Context())
		third := start(ctx, s, model.Request{Tool: "z"})
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, (<-third).err, ErrWithdrawn, "cancelled while it waited for its turn")
		assert.ErrorIs(t, (<-first).err, ErrTimeout)
		assert.Equal(t, time.Minute, time.Since(begin))
		assert.ErrorIs(t, (<-second).err, ErrTimeout, "the time counts from its own turn")
		assert.Equal(t, 2*time.Minute, time.Since(begin))
	})
}

func TestSerialDoesNotHangWithAnApproverThatDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		s := NewSerial(person(func(context.Context, model.Request) (model.Answer, error) {
			<-hang
			return model.AnswerOnce, nil
		}), SerialOptions{Limit: time.Second})
		got := <-start(t.Context(), s, model.Request{Tool: "x"})
		assert.ErrorIs(t, got.err, ErrTimeout)
		got = <-start(t.Context(), s, model.Request{Tool: "y"})
		assert.ErrorContains(t, got.err, "does not end")
		assert.Equal(t, model.AnswerDeny, got.reply.Answer)
		close(hang)
		synctest.Wait()
		got = <-start(t.Context(), s, model.Request{Tool: "z"})
		assert.NoError(t, got.err)
		assert.Equal(t, model.AnswerOnce, got.reply.Answer)
	})
}

func TestSerialLooksAgainWhenTheTurnComes(t *testing.T) {
	script := NewScript(model.AnswerSession)
	var session Session
	s := NewSerial(script, SerialOptions{Recheck: func(_ context.Context, r model.Request) (model.Reply, bool) {
		return model.Reply{Answer: model.AnswerOnce, From: "session"}, session.Covers(r.Tool, &r.Targets[0]) != nil
	}})
	r := command(t, "make")
	got, err := Ask(t.Context(), s, r)
	require.NoError(t, err)
	assert.Equal(t, model.AnswerSession, got.Answer)
	session.Remember(r.Session[0])
	got, err = Ask(t.Context(), s, r)
	require.NoError(t, err)
	assert.Equal(t, "session", got.From)
	assert.Len(t, script.Asked(), 1)
}

func TestSwitchTakesTheOpenQuestionAlong(t *testing.T) {
	s := NewSwitch(person(slow))
	done := start(t.Context(), s, command(t, "make"))
	time.Sleep(10 * time.Millisecond)
	script := NewScript(model.AnswerOnce)
	assert.NotNil(t, s.Set(script))
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, model.AnswerOnce, got.reply.Answer)
	assert.Equal(t, "script", got.reply.From)
	s.Set(nil)
	assert.Nil(t, s.Current())
	got = <-start(t.Context(), s, command(t, "make"))
	assert.ErrorIs(t, got.err, ErrUnattended)
}

func TestSwitchRespectsTheCaller(t *testing.T) {
	s := NewSwitch(person(slow))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	got := <-start(ctx, s, command(t, "make"))
	assert.Error(t, got.err)
	assert.Equal(t, model.AnswerDeny, got.reply.Answer)
}

func TestFallback(t *testing.T) {
	none := person(func(context.Context, model.Request) (model.Answer, error) { return model.AnswerDeny, ErrNoTerminal })
	got := <-start(t.Context(), Fallback{none, NewScript(model.AnswerOnce)}, command(t, "make"))
	assert.Equal(t, model.AnswerOnce, got.reply.Answer)
	got = <-start(t.Context(), Fallback{NewScript(model.AnswerDeny), NewScript(model.AnswerOnce)}, command(t, "make"))
	assert.Equal(t, model.AnswerDeny, got.reply.Answer, "a no is a no")
	got = <-start(t.Context(), Fallback{First: none}, command(t, "make"))
	assert.ErrorIs(t, got.err, ErrNoTerminal)
}
