package approve

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// Defaults and limits of the queue.
const (
	// DefaultLimit is how long a question of the queue stays open.
	DefaultLimit = 10 * time.Minute
	// maxPending is how many questions may be open at once.
	maxPending = 1000
	// maxQuestion is how many bytes a question may have on disk.
	maxQuestion = 32 << 20
	// keepDecisions is how long the decision about a question stays, so that a
	// late answer is told that it came too late.
	keepDecisions = 24 * time.Hour
)

var (
	// ErrNoQuestion says that there is no open question of that name.
	ErrNoQuestion = errors.New("no such question")
	// ErrAnswered says that somebody was faster.
	ErrAnswered = errors.New("already answered")
	// ErrExpired says that the time for the answer is over.
	ErrExpired = errors.New("the time for an answer is over")
)

// QueueOptions are the options of OpenQueue.
type QueueOptions struct {
	// Limit is how long a question stays open; 0 means DefaultLimit. A context
	// that ends earlier shortens it.
	Limit time.Duration
	// Poll is how often the store is looked at; 0 means 100 ms.
	Poll time.Duration
	// Folder is the project that asks, for people.
	Folder string
	// Agent names the agent that asks, for people.
	Agent string
}

// Queue is an approver without a terminal of its own: questions wait in a folder
// that only the user can read, until a person answers from somewhere else. Safe
// for concurrent use, by any number of processes.
//
// A question is decided exactly once, by creating one file that cannot be
// created twice: with an answer, or by the asking process when the time is over
// or the call was cancelled. A question with a call id survives its process: the
// same question, asked again by a new process, continues the old one.
type Queue struct {
	store   store
	options QueueOptions
}

// Question is an open question.
type Question struct {
	// ID names the question; any beginning that is unique will do for Show and
	// Answer.
	ID      string    `json:"id"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	// PID is the process that asks, Folder the project, Agent the agent.
	PID    int    `json:"pid"`
	Folder string `json:"folder,omitempty"`
	Agent  string `json:"agent,omitempty"`
	// Request is what is asked.
	Request model.Request `json:"request"`
	// Waiting says that the asking process is still there. It is found out when
	// the question is read.
	Waiting bool `json:"-"`

	digest string
}

// Outcome says how a question ended.
type Outcome string

// The ways in which a question ends.
const (
	OutcomeAnswered  Outcome = "answered"
	OutcomeExpired   Outcome = "expired"
	OutcomeWithdrawn Outcome = "withdrawn"
)

// Decision is the end of a question.
type Decision struct {
	ID      string      `json:"id"`
	Outcome Outcome     `json:"outcome"`
	Reply   model.Reply `json:"reply"`
	// Question is the SHA-256 of the question as it was shown.
	Question string `json:"question"`
}

// OpenQueue opens the store in the folder and creates it if there is none (0700).
// A folder that others can enter, that belongs to somebody else or that is a
// link is an error.
func OpenQueue(dir string, options QueueOptions) (*Queue, error) {
	if options.Limit <= 0 {
		options.Limit = DefaultLimit
	}
	if options.Poll <= 0 {
		options.Poll = 100 * time.Millisecond
	}
	s := store{dir: dir}
	if err := s.open(); err != nil {
		return nil, err
	}
	return &Queue{store: s, options: options}, nil
}

// Ask implements model.Approver.
func (q *Queue) Ask(ctx context.Context, request model.Request) (model.Answer, error) {
	reply, err := q.AskReply(ctx, request)
	return reply.Answer, err
}

// AskReply implements model.Replier: it puts the question into the store and
// waits. It returns deny with ErrTimeout when the time is over, with ErrWithdrawn
// when the context was cancelled, and with the error of the disk if the store
// fails.
func (q *Queue) AskReply(ctx context.Context, request model.Request) (model.Reply, error) {
	if ctx.Err() != nil {
		return denied, cancelled(ctx)
	}
	q.store.sweep()
	question, lock, err := q.put(ctx, request)
	if err != nil {
		return denied, err
	}
	defer lock.release()
	decision, err := q.wait(ctx, question)
	if err != nil {
		return denied, err
	}
	if err := q.store.remove(question.ID + questionFile); err != nil {
		return denied, err
	}
	switch {
	case decision.Question != question.digest:
		return denied, fmt.Errorf("question %s: the answer is about another text than the one that was asked", question.ID)
	case decision.Outcome == OutcomeExpired:
		return denied, ErrTimeout
	case decision.Outcome != OutcomeAnswered || errors.Is(cancelled(ctx), ErrWithdrawn) && ctx.Err() != nil:
		return denied, ErrWithdrawn
	}
	return Checked(&request, decision.Reply)
}

// put finds the question that an earlier process left, or writes a new one.
func (q *Queue) put(ctx context.Context, request model.Request) (*Question, *lock, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the question: %w", err)
	}
	if request.CallID != "" {
		id := idOf(append([]byte(q.options.Folder+"\x00"+q.options.Agent+"\x00"), body...))
		question, lock, err := q.take(ctx, id, request, body)
		if question != nil || err != nil {
			return question, lock, err
		}
	}
	for range 8 {
		question, lock, err := q.take(ctx, randomID(), request, body)
		if question != nil || err != nil {
			return question, lock, err
		}
	}
	return nil, nil, errors.New("writing the question: no free name in the store")
}

// take makes the question with this id ours: it continues one that lost its
// process or writes it anew. Without an error it returns nil if the id is in use.
func (q *Queue) take(ctx context.Context, id string, request model.Request, body []byte) (*Question, *lock, error) {
	lock, err := q.store.lock(id)
	if lock == nil || err != nil {
		return nil, nil, err
	}
	question, err := q.takeLocked(ctx, id, request, body)
	if question == nil || err != nil {
		lock.release()
		return nil, nil, err
	}
	return question, lock, nil
}

func (q *Queue) takeLocked(ctx context.Context, id string, request model.Request, body []byte) (*Question, error) {
	old, err := q.store.question(id)
	switch {
	case err == nil:
		again, err := json.Marshal(old.Request)
		if err != nil || string(again) != string(body) {
			return nil, nil
		}
		if _, err := q.store.decision(id); err == nil || time.Now().Before(old.Expires) {
			return old, nil
		}
		// It ran out while nobody waited: it is closed, and asked anew.
		err = q.store.decide(&Decision{
			ID: id, Outcome: OutcomeExpired, Question: old.digest,
			Reply: model.Reply{Answer: model.AnswerDeny, At: time.Now()},
		})
		if errors.Is(err, fs.ErrExist) {
			return old, nil
		}
		if err == nil {
			err = q.store.remove(id + questionFile)
		}
		return nil, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if _, err := q.store.decision(id); !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	pending, err := q.store.ids(questionFile)
	if err != nil {
		return nil, err
	}
	if len(pending) >= maxPending {
		return nil, fmt.Errorf("%s: %d questions are open already: answer some of them", q.store.dir, len(pending))
	}
	now := time.Now()
	question := &Question{
		ID: id, Asked: now, Expires: now.Add(q.options.Limit), PID: os.Getpid(),
		Folder: q.options.Folder, Agent: q.options.Agent, Request: request,
	}
	if end, ok := ctx.Deadline(); ok && end.Before(question.Expires) {
		question.Expires = end
	}
	data, err := json.Marshal(question)
	if err != nil {
		return nil, fmt.Errorf("writing the question: %w", err)
	}
	if len(data) > maxQuestion {
		return nil, fmt.Errorf("the question has %d bytes, more than the %d that can wait for an answer", len(data), maxQuestion)
	}
	if err := q.store.publish(id+questionFile, data); err != nil {
		return nil, err
	}
	question.digest = digest(data)
	return question, nil
}

// wait waits for the decision, and makes it when the time is over.
func (q *Queue) wait(ctx context.Context, question *Question) (*Decision, error) {
	tick := time.NewTicker(q.options.Poll)
	defer tick.Stop()
	for {
		decision, err := q.store.decision(question.ID)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return decision, err
		}
		outcome := Outcome("")
		switch {
		case ctx.Err() != nil && !errors.Is(cancelled(ctx), ErrTimeout):
			outcome = OutcomeWithdrawn
		case ctx.Err() != nil, !time.Now().Before(question.Expires):
			outcome = OutcomeExpired
		}
		if outcome != "" {
			err := q.store.decide(&Decision{
				ID: question.ID, Outcome: outcome, Question: question.digest,
				Reply: model.Reply{Answer: model.AnswerDeny, At: time.Now()},
			})
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			// Somebody who was faster has decided: their word is read above.
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// idOf derives an id from a question, so that it is found again.
func idOf(data []byte) string {
	sum := sha256.Sum256(data)
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:idLength])
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
