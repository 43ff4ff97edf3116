package approve

import (
	"slices"
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// answers are all answers in the order in which they are shown.
var answers = []model.Answer{
	model.AnswerOnce, model.AnswerSession, model.AnswerAlways, model.AnswerDeny, model.AnswerNever,
}

// Answers returns the five answers in the order in which they are shown.
func Answers() []model.Answer { return slices.Clone(answers) }

// Choices returns the answers that the request offers, in the order in which
// they are shown. Session, always and never need a rule that they would add.
// Deny is always there: a person must be able to say no.
func Choices(request *model.Request) []model.Answer {
	var out []model.Answer
	for _, answer := range answers {
		switch {
		case answer == model.AnswerDeny:
		case len(request.Choices) > 0 && !slices.Contains(request.Choices, answer):
			continue
		case answer != model.AnswerOnce && len(Adds(request, answer)) == 0:
			continue
		}
		out = append(out, answer)
	}
	return out
}

// Adds returns the rules that an answer would add, as people write them; nil for
// once and deny.
func Adds(request *model.Request, answer model.Answer) []string {
	switch answer {
	case model.AnswerSession:
		var out []string
		for _, rule := range request.Session {
			if text := ruleText(rule); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return out
	case model.AnswerAlways:
		return request.Always
	case model.AnswerNever:
		if request.Never != "" {
			return []string{request.Never}
		}
	}
	return nil
}

// labels are the words for the answers.
var labels = map[model.Answer]string{
	model.AnswerOnce:    "yes, once",
	model.AnswerSession: "yes, for this session",
	model.AnswerAlways:  "yes, always",
	model.AnswerDeny:    "no",
	model.AnswerNever:   "no, never",
}

// keys are the letters that choose an answer.
var keys = map[model.Answer]string{
	model.AnswerOnce: "y", model.AnswerSession: "s", model.AnswerAlways: "a",
	model.AnswerDeny: "n", model.AnswerNever: "x",
}

// Label returns the words for an answer: the caller's, if the request has some.
func Label(request *model.Request, answer model.Answer) string {
	if own := request.Labels[answer]; own != "" {
		return visible(own)
	}
	return labels[answer]
}

// ParseAnswer reads an answer by its name or by its letter.
func ParseAnswer(text string) (model.Answer, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, answer := range answers {
		if text == string(answer) || text == keys[answer] {
			return answer, true
		}
	}
	switch text {
	case "yes":
		return model.AnswerOnce, true
	case "no":
		return model.AnswerDeny, true
	}
	return "", false
}

func join(list []model.Answer) string {
	var out []string
	for _, answer := range list {
		out = append(out, string(answer))
	}
	return strings.Join(out, ", ")
}
