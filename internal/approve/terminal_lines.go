package approve

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/lictor-policy/lictor/internal/model"
)

// maxTries is how often a plain question is put again after an answer that is
// none.
const maxTries = 5

// lines asks in plain lines, for a terminal that can do no more.
func (t *Terminal) lines(ctx context.Context, tty *terminal, request *model.Request) (model.Reply, error) {
	width, _, err := term.GetSize(int(tty.out.Fd()))
	if err != nil || width < 10 {
		width = 80
	}
	text := Render(Document(request), width, false)
	if list := Dangers(request); HighDanger(list) {
		text = "*** DANGER ***\n" + text
	}
	if _, err := io.WriteString(tty.out, "\nlictor asks\n"+text+"\n"); err != nil {
		return denied, fmt.Errorf("asking on the terminal: %w", err)
	}
	choices := Choices(request)
	var menu strings.Builder
	for _, answer := range choices {
		fmt.Fprintf(&menu, "  %s  %s\n", keys[answer], Label(request, answer))
	}
	if _, err := io.WriteString(tty.out, menu.String()); err != nil {
		return denied, fmt.Errorf("asking on the terminal: %w", err)
	}
	select {
	case <-ctx.Done():
		return denied, ctx.Err()
	case <-time.After(settle):
	}
	tty.flush()
	for range maxTries {
		line, err := t.prompt(ctx, tty, "Your answer: ")
		if err != nil {
			return denied, err
		}
		answer, ok := ParseAnswer(line)
		if !ok || !slices.Contains(choices, answer) {
			fmt.Fprintln(tty.out, "Write one of the letters above.")
			continue
		}
		return t.confirmed(ctx, tty, request, answer)
	}
	return denied, fmt.Errorf("no answer after %d tries", maxTries)
}

// confirmed asks again where a quick yes would be too easy, and for the hunks.
func (t *Terminal) confirmed(ctx context.Context, tty *terminal, request *model.Request, answer model.Answer) (model.Reply, error) {
	reply := model.Reply{Answer: answer}
	if answer == model.AnswerAlways || answer == model.AnswerNever || answer.Allows() && HighDanger(Dangers(request)) {
		for _, rule := range Adds(request, answer) {
			fmt.Fprintf(tty.out, "  adds %s\n", visible(rule))
		}
		line, err := t.prompt(ctx, tty, `Write "yes" if you mean it: `)
		if err != nil {
			return denied, err
		}
		if !strings.EqualFold(line, "yes") {
			return model.Reply{Answer: model.AnswerDeny}, nil
		}
	}
	all := len(Hunks(request.Changes))
	if !answer.Allows() || all < 2 {
		return reply, nil
	}
	line, err := t.prompt(ctx, tty, fmt.Sprintf("Which of the %d hunks (such as 1,3-5; empty = all): ", all))
	if err != nil || line == "" {
		return reply, err
	}
	reply.Hunks, err = ParseHunks(line, all)
	return reply, err
}

func (t *Terminal) prompt(ctx context.Context, tty *terminal, text string) (string, error) {
	if _, err := io.WriteString(tty.out, text); err != nil {
		return "", fmt.Errorf("asking on the terminal: %w", err)
	}
	return tty.readLine(ctx)
}

// ParseHunks reads a selection such as "1,3-5" of all hunks; "all" and "none"
// are words for the whole and for nothing. A number that is not there is an error.
func ParseHunks(text string, all int) ([]int, error) {
	out := []int{}
	switch text = strings.TrimSpace(text); text {
	case "all":
		for n := 1; n <= all; n++ {
			out = append(out, n)
		}
		return out, nil
	case "none":
		return out, nil
	}
	for _, item := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(item), "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(strings.TrimSpace(from))
		b, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err1 != nil || err2 != nil || a < 1 || b > all || a > b {
			return nil, fmt.Errorf("%q names no hunks: there are 1 to %d, write for example 1,3-5", visible(text), all)
		}
		for n := a; n <= b; n++ {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
