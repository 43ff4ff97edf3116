package lictor

import (
	"github.com/lictor-policy/lictor/internal/config"
	"github.com/lictor-policy/lictor/internal/model"
	"github.com/lictor-policy/lictor/internal/toolcall"
)

// The nouns of the API, defined in internal/model.
type (
	// Call is one tool call that an agent wants to make.
	Call = model.Call
	// Verdict is what the policy says about a call, and why.
	Verdict = model.Verdict
	// Decided is the final yes or no, after a person answered.
	Decided = model.Decided
	// Input is the document that the policy reads.
	Input = model.Input
	// Target is one thing that a call touches.
	Target = model.Target
	// Request is a question to a person, Answer what that person says.
	Request = model.Request
	Answer  = model.Answer
	// Approver asks a person; a Replier also says which hunks were accepted, who
	// answered and for how long. Reply is such an answer.
	Approver = model.Approver
	Replier  = model.Replier
	Reply    = model.Reply
	// Mode is build or plan, Isolation none or os, Shell the shell of commands,
	// Decision allow, deny or ask.
	Mode      = model.Mode
	Isolation = model.Isolation
	Shell     = model.Shell
	Decision  = model.Decision
	// RuleRef names a rule in a verdict, Hit a lower-ranked step that held too.
	RuleRef = model.RuleRef
	Hit     = model.Hit
	// Explanation says how a verdict came about.
	Explanation = model.Explanation
	// Limits are steps and tokens that a host must enforce.
	Limits = config.EffectiveLimits
	// InputError says which argument of which tool could not be read.
	InputError = toolcall.InputError
	// ConsentFunc asks the user about parts of a project that loosen safety, and
	// ConsentRequest is that question.
	ConsentFunc    = config.Asker
	ConsentRequest = config.ConsentRequest
)

// The words of the API.
const (
	Allow = model.Allow
	Deny  = model.Deny
	Ask   = model.Ask

	ModeBuild = model.ModeBuild
	ModePlan  = model.ModePlan

	IsolationNone = model.IsolationNone
	IsolationOS   = model.IsolationOS

	AnswerOnce    = model.AnswerOnce
	AnswerSession = model.AnswerSession
	AnswerAlways  = model.AnswerAlways
	AnswerDeny    = model.AnswerDeny
	AnswerNever   = model.AnswerNever

	// FactInputError is the fact of a call that could not be read.
	FactInputError = model.FactInputError
)
