package audit

import (
	"strings"

	"github.com/lictor-policy/lictor/internal/model"
)

// Class is a decision by class (SPEC section 3, "Denials by class").
type Class string

// The classes. "allow_" and "deny_" followed by what decided.
const (
	ClassAsk  Class = "ask"
	ClassHook Class = "hook"

	AllowReadOnly Class = "allow_readonly"
	AllowSandbox  Class = "allow_sandbox"
	AllowRule     Class = "allow_rule"
	AllowSession  Class = "allow_session"
	AllowUser     Class = "allow_user"

	DenyPolicy     Class = "deny_policy"
	DenySensitive  Class = "deny_sensitive"
	DenyProtected  Class = "deny_protected"
	DenyRule       Class = "deny_rule"
	DenyPlan       Class = "deny_plan"
	DenyUnattended Class = "deny_unattended"
	DenyUser       Class = "deny_user"
	DenyHook       Class = "deny_hook"
	DenyOutside    Class = "deny_outside"
	DenyInput      Class = "deny_input"
	DenyError      Class = "deny_error"
)

var allClasses = []Class{
	ClassAsk, ClassHook,
	AllowReadOnly, AllowSandbox, AllowRule, AllowSession, AllowUser,
	DenyPolicy, DenySensitive, DenyProtected, DenyRule, DenyPlan, DenyUnattended, DenyUser, DenyHook, DenyOutside,
	DenyInput, DenyError,
}

// Denied reports whether the class is a denial.
func (c Class) Denied() bool { return c == "deny" || strings.HasPrefix(string(c), "deny_") }

// Allowed reports whether the class is an allowance.
func (c Class) Allowed() bool { return c == "allow" || strings.HasPrefix(string(c), "allow_") }

// denyClasses and allowClasses map what decided to its class. Never the
// reason's text.
var (
	denyClasses = map[string]Class{
		"input": DenyInput, "error": DenyError, "policy": DenyPolicy, "outside": DenyOutside,
		"sensitive": DenySensitive, "rule": DenyRule, "unattended": DenyUnattended,
		"user": DenyUser, "hook": DenyHook, "plan": DenyPlan,
	}
	allowClasses = map[string]Class{
		"read_only": AllowReadOnly, "sandbox": AllowSandbox, "rule": AllowRule,
		"session": AllowSession, "user": AllowUser,
	}
)

// Classify gives the class of a decision: by and kind are those of the verdict
// ("rule" and "protected"), or by is "user" once a person has answered. A
// denial by something unknown is deny_error.
func Classify(decision model.Decision, by, kind string) Class {
	switch decision {
	case model.Ask:
		return ClassAsk
	case model.Allow:
		if c, ok := allowClasses[by]; ok {
			return c
		}
		return Class("allow_" + by)
	}
	switch {
	case kind == "protected":
		return DenyProtected
	case kind == "plan":
		return DenyPlan
	}
	if c, ok := denyClasses[by]; ok {
		return c
	}
	return DenyError
}

// Risk says how much depends on a decision.
type Risk string

// The risks.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

var allRisks = []Risk{RiskLow, RiskMedium, RiskHigh, RiskCritical}

// classRisks is the risk of a class where it does not depend on the target.
var classRisks = map[Class]Risk{
	DenyPolicy: RiskCritical, DenySensitive: RiskCritical, DenyProtected: RiskCritical,
	DenyRule: RiskHigh, DenyUnattended: RiskHigh, DenyUser: RiskHigh, DenyHook: RiskHigh,
	DenyOutside: RiskHigh, DenyError: RiskHigh,
	DenyPlan: RiskMedium, DenyInput: RiskMedium, ClassHook: RiskMedium,
	AllowReadOnly: RiskLow,
	AllowSandbox:  RiskMedium, AllowRule: RiskMedium, AllowSession: RiskMedium,
}

// RiskOf gives the risk of a decision. Where a person decides (allow_user, or a
// question that is still open) it depends on the target: a command that nothing
// confines and a URL are high, the rest is medium. An unknown denial is high.
func RiskOf(c Class, kind model.Kind, unconfined bool) Risk {
	if r, ok := classRisks[c]; ok {
		return r
	}
	if c.Denied() || kind == model.KindURL || (kind == model.KindCommand && unconfined) {
		return RiskHigh
	}
	return RiskMedium
}

// Level says which events a log keeps.
type Level string

// The levels: everything; everything but read-only calls that were allowed;
// denials and errors only.
const (
	LevelAll       Level = "all"
	LevelMutations Level = "mutations"
	LevelDenials   Level = "denials"
)

// Keeps reports whether a log of this level writes the event. The log's own
// events and errors are always written. Unknown levels keep everything.
func (l Level) Keeps(e *Event) bool {
	if e.Type.system() || e.Error != "" || e.Class.Denied() || e.Blocked || e.Observed {
		return true
	}
	switch l {
	case LevelDenials:
		// A refused bundle or consent has an error; the rest is no denial.
		return e.Answer == "deny" || e.Answer == "never"
	case LevelMutations:
		return e.Class != AllowReadOnly && !(e.Class.Allowed() && e.Risk == RiskLow)
	}
	return true
}
