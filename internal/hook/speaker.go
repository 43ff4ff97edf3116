package hook

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/lictor-policy/lictor/internal/model"
)

// words are what differs between agents; speaker is what does not.
type words interface {
	name() string
	contract() Contract
	decode(stdin []byte) (*Event, error)
	// say encodes an answer to an event that decides.
	say(s said) Reply
	// tell encodes the answer to an event that only tells.
	tell(e *Event, context string) Reply
	// refuse blocks an event that decides, or one that is not known (nil).
	refuse(e *Event, reason string) Reply
}

// said is one decision on its way into an agent's words.
type said struct {
	event    *Event
	decision model.Decision
	reason   string
	// input are the whole arguments with the command replaced, or nil.
	input json.RawMessage
	// command is the replacement itself, or "".
	command string
}

// partly is an agent that asks in some of its events only.
type partly interface {
	// silent says why it does not ask in this one, "" if it can.
	silent(e *Event) string
}

// speaker makes a Dialect of an agent's words.
type speaker struct{ words }

func (s speaker) Name() string                        { return s.name() }
func (s speaker) Contract() Contract                  { return s.contract() }
func (s speaker) Decode(stdin []byte) (*Event, error) { return s.decode(stdin) }
func (s speaker) Block(reason string) Reply           { return s.Refuse(nil, reason) }

func (s speaker) Encode(v *model.Verdict) Reply {
	return s.Answer(&Event{Kind: PreToolUse}, v, Options{})
}

func (s speaker) Refuse(e *Event, reason string) Reply {
	reason = line(reason)
	if e != nil && !e.Kind.Decides() {
		// The call ran already, or there is none: nothing can be stopped. A code
		// that is neither 0 nor 2 shows the reason to the user everywhere.
		return Reply{Stderr: []byte(reason + "\n"), Code: 1}
	}
	return s.refuse(e, reason)
}

func (s speaker) Answer(e *Event, v *model.Verdict, o Options) Reply {
	if e == nil {
		return s.Refuse(nil, "there is no event to answer")
	}
	if !e.Kind.Decides() {
		return s.tell(e, line(o.Context))
	}
	if v == nil {
		return s.Refuse(e, "lictor came to no decision")
	}
	out := said{event: e, decision: v.Decision, reason: v.Reason}
	if out.decision == model.Allow && e.Doubt != "" {
		out.decision, out.reason = model.Ask, "allowed by "+v.By+", but "+e.Doubt
	}
	switch out.decision {
	case model.Allow, model.Deny:
	case model.Ask:
		s.ask(&out, o)
	default:
		return s.Refuse(e, fmt.Sprintf("lictor came to no decision (%q)", v.Decision))
	}
	out.reason = line(out.reason)
	if o.Command == "" || out.decision == model.Deny {
		return s.say(out)
	}
	if !s.contract().Replaces {
		return s.Refuse(e, s.name()+" cannot run the command in the sandbox: its hooks cannot replace a command")
	}
	input, err := replaceCommand(e.Call.Args, o.Command)
	if err != nil {
		return s.Refuse(e, "the command cannot be run in the sandbox: "+err.Error())
	}
	out.input, out.command = input, o.Command
	return s.say(out)
}

// ask turns a question into a denial where the agent would not show it. A
// permission request is about to become a question of the agent itself.
func (s speaker) ask(out *said, o Options) {
	if out.event.Kind == PermissionRequest {
		return
	}
	why := ""
	if p, ok := s.words.(partly); ok {
		why = p.silent(out.event)
	}
	switch asks := s.contract().Asks; {
	case why != "":
		out.reason += " (a question, but " + why + ": a rule would allow it)"
	case asks == AskAlways, asks == AskOption && o.Ask:
		return
	case asks == AskOption:
		out.reason += " (a question, but this agent may skip questions: a rule would allow it, or install the hook with --ask)"
	default:
		out.reason += " (a question, but this agent's hooks cannot ask: a rule would allow it)"
	}
	out.decision = model.Deny
}

// replaceCommand returns the arguments with another command, everything else as
// it was. Only a text can be replaced: of a list of words it is not known which
// shell reads it.
func replaceCommand(args json.RawMessage, command string) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(args, &members); err != nil {
		return nil, fmt.Errorf("its arguments are no object: %w", err)
	}
	var found string
	for _, name := range []string{"command", "cmd"} {
		if _, ok := members[name]; !ok {
			continue
		}
		if found != "" {
			return nil, fmt.Errorf("it has both %q and %q", found, name)
		}
		found = name
		var text string
		if err := json.Unmarshal(members[name], &text); err != nil {
			return nil, fmt.Errorf("its %q is no text", name)
		}
	}
	if found == "" {
		return nil, fmt.Errorf("it has no \"command\"")
	}
	text, err := encode(command)
	if err != nil {
		return nil, err
	}
	members[found] = text
	return encode(members)
}

// maxReason keeps reasons far below the 10,000 characters at which agents cut.
const maxReason = 4000

// line makes a reason fit to print: of bounded length, without characters that
// steer a terminal or turn the direction of text.
func line(reason string) string {
	if len(reason) > maxReason {
		reason = reason[:maxReason] + " …"
	}
	reason = strings.ToValidUTF8(reason, "\ufffd")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '\ufffd'
		}
		return r
	}, reason)
}

// named puts the product's name before a reason once.
func named(reason string) string {
	if strings.HasPrefix(reason, "lictor:") {
		return reason
	}
	return "lictor: " + reason
}

// encode is one line of JSON without HTML escapes, which only make reasons hard
// to read.
func encode(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// object is a reply of one complete JSON object and a newline. What is encoded
// here is built of texts and checked JSON; if it fails all the same, nothing was
// said, and exit code 2 with a reason is what most agents take as a refusal.
func object(v any) Reply {
	out, err := encode(v)
	if err != nil {
		return Reply{Stderr: []byte("lictor: the answer cannot be encoded: " + line(err.Error()) + "\n"), Code: 2}
	}
	return Reply{Stdout: append(out, '\n')}
}

// withCode adds the second way of refusing: exit code 2 with the reason on
// standard error.
func withCode(r Reply, reason string) Reply {
	r.Stderr, r.Code = []byte(named(reason)+"\n"), 2
	return r
}
