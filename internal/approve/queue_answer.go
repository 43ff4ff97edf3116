package approve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/lictor-policy/lictor/internal/model"
)

// List returns the open questions, the oldest first. A file that cannot be read
// does not hide the others: the error names it, and the list is valid all the
// same.
func (q *Queue) List() ([]Question, error) {
	ids, err := q.store.ids(questionFile)
	if err != nil {
		return nil, err
	}
	var out []Question
	var bad []error
	for _, id := range ids {
		question, err := q.open(id)
		switch {
		case err == nil:
			out = append(out, *question)
		case !errors.Is(err, ErrNoQuestion) && !errors.Is(err, ErrAnswered) && !errors.Is(err, ErrExpired):
			bad = append(bad, err)
		}
	}
	slices.SortFunc(out, func(a, b Question) int {
		if c := a.Asked.Compare(b.Asked); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, errors.Join(bad...)
}

// Show returns an open question by its id or a unique beginning of it. The error
// is ErrNoQuestion, ErrAnswered, ErrExpired, or that of the disk.
func (q *Queue) Show(id string) (*Question, error) {
	full, err := q.resolve(id)
	if err != nil {
		return nil, err
	}
	return q.open(full)
}

// Answer answers an open question, and only the first answer counts: later ones
// get ErrAnswered, those after the end ErrExpired. The reply must be one of the
// request's choices. The caller says who answers and from where (see Whoami).
func (q *Queue) Answer(id string, answer model.Answer, by, from string) error {
	return q.AnswerReply(id, model.Reply{Answer: answer, By: by, From: from})
}

// AnswerReply is Answer with hunks and a time limit.
func (q *Queue) AnswerReply(id string, reply model.Reply) error {
	question, err := q.Show(id)
	if err != nil {
		return err
	}
	if !slices.Contains(Choices(&question.Request), reply.Answer) {
		return fmt.Errorf("question %s: the answer %q is none of those that were offered (%s)", question.ID, visible(string(reply.Answer)), join(Choices(&question.Request)))
	}
	reply.At = time.Now()
	reply, err = Checked(&question.Request, reply)
	if err != nil {
		return err
	}
	err = q.store.decide(&Decision{
		ID: question.ID, Outcome: OutcomeAnswered, Reply: reply, Question: question.digest,
	})
	if errors.Is(err, fs.ErrExist) {
		return q.ended(question.ID)
	}
	return err
}

// open reads an open question.
func (q *Queue) open(id string) (*Question, error) {
	question, err := q.store.question(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, q.ended(id)
	}
	if err != nil {
		return nil, err
	}
	if _, err := q.store.decision(id); err == nil {
		return nil, q.ended(id)
	}
	if !time.Now().Before(question.Expires) {
		return nil, fmt.Errorf("question %s: %w", id, ErrExpired)
	}
	question.Waiting = q.store.locked(id)
	return question, nil
}

// ended says how a question that is not open ended.
func (q *Queue) ended(id string) error {
	decision, err := q.store.decision(id)
	switch {
	case err != nil:
		return fmt.Errorf("question %s: %w", id, ErrNoQuestion)
	case decision.Outcome == OutcomeExpired:
		return fmt.Errorf("question %s: %w", id, ErrExpired)
	case decision.Outcome == OutcomeWithdrawn:
		return fmt.Errorf("question %s: %w", id, ErrWithdrawn)
	}
	return fmt.Errorf("question %s: %w: %q by %s", id, ErrAnswered, decision.Reply.Answer, visible(decision.Reply.By))
}

// resolve finds the id that begins with the text.
func (q *Queue) resolve(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || strings.Trim(text, idLetters) != "" {
		return "", fmt.Errorf("question %q: %w: a name has letters and digits only", visible(text), ErrNoQuestion)
	}
	if len(text) == idLength {
		return text, nil
	}
	ids, err := q.store.ids(questionFile)
	if err != nil {
		return "", err
	}
	var found []string
	for _, id := range ids {
		if !strings.HasPrefix(id, text) {
			continue
		}
		if _, err := q.open(id); err == nil {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("question %s: %w", text, ErrNoQuestion)
	}
	return "", fmt.Errorf("question %s: several begin like this (%s): write more of the name", text, strings.Join(found, ", "))
}

// Event is news about the queue: a question that is open now, or one that ended.
type Event struct {
	// Question is set for a new question.
	Question *Question
	// ID names the question, Decision says how it ended (nil for a new one, and
	// for one that ended without a trace).
	ID       string
	Decision *Decision
}

// Ended reports whether the event is the end of a question.
func (e *Event) Ended() bool { return e.Question == nil }

// Watch sends the questions that are open now, then each new one and each end,
// until the context is over; then it closes the channel.
func (q *Queue) Watch(ctx context.Context) <-chan Event {
	out := make(chan Event)
	go func() {
		defer close(out)
		known := map[string]bool{}
		tick := time.NewTicker(q.options.Poll)
		defer tick.Stop()
		for {
			for _, event := range q.news(known) {
				select {
				case out <- event:
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// news compares what is open with what was known.
func (q *Queue) news(known map[string]bool) []Event {
	// A store that cannot be read for a moment is no news.
	open, err := q.List()
	if err != nil && open == nil {
		return nil
	}
	var out []Event
	now := map[string]bool{}
	for i := range open {
		now[open[i].ID] = true
		if !known[open[i].ID] {
			known[open[i].ID] = true
			out = append(out, Event{ID: open[i].ID, Question: &open[i]})
		}
	}
	for id := range known {
		if !now[id] {
			delete(known, id)
			decision, _ := q.store.decision(id)
			out = append(out, Event{ID: id, Decision: decision})
		}
	}
	return out
}

// Whoami returns who answers and from where, for a reply given on this
// computer: the user's name, and the terminal or host with the process id.
func Whoami(place string) (by, from string) {
	by = "unknown"
	if u, err := user.Current(); err == nil {
		by = u.Username
	}
	if place == "" {
		place = "process"
		if host, err := os.Hostname(); err == nil {
			place = host
		}
	}
	return by, fmt.Sprintf("%s, pid %d", place, os.Getpid())
}
