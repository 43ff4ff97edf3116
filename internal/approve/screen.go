package approve

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lictor-policy/lictor/internal/model"
)

// screen is the state of one question on the full screen. Its time passes only
// with the messages that it gets.
type screen struct {
	request *model.Request
	colour  bool
	now     func() time.Time

	choices []model.Answer
	dangers []Danger
	rows    []Row
	hunks   int
	// accepted is what is selected, by hunk number - 1; hunk is the one that the
	// keys speak of, 0 for none.
	accepted []bool
	hunk     int

	width, height int
	offset        int
	lines         []screenLine
	heads         []int

	// armed is when keys begin to count; zero means that nothing is shown yet.
	armed time.Time
	// confirm is the answer that waits for its second key; hint is what to say
	// about the last key.
	confirm  model.Answer
	hint     string
	deadline time.Time

	done   bool
	reply  model.Reply
	failed error
}

// screenLine is one line of the document at the present width.
type screenLine struct {
	text string
	// row is the row of the document that it shows.
	row int
}

func newScreen(request *model.Request, colour bool) *screen {
	s := &screen{
		request: request, colour: colour, now: time.Now,
		choices: Choices(request), dangers: Dangers(request), rows: Document(request),
	}
	s.hunks = len(hunkRows(s.rows))
	s.accepted = make([]bool, s.hunks)
	for i := range s.accepted {
		s.accepted[i] = true
	}
	return s
}

type tick struct{}

func wake(after time.Duration) tea.Cmd {
	return tea.Tick(after, func(time.Time) tea.Msg { return tick{} })
}

func (s *screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize(msg.Width, msg.Height)
		if s.armed.IsZero() {
			s.armed = s.now().Add(settle)
			return tea.Batch(wake(settle), s.clock())
		}
	case tick:
		return s.clock()
	case tea.KeyPressMsg:
		return s.key(msg.String())
	}
	return nil
}

// clock wakes the screen once a second while there is a time to show.
func (s *screen) clock() tea.Cmd {
	if s.deadline.IsZero() {
		return nil
	}
	return wake(time.Second)
}

func (s *screen) ready() bool { return !s.armed.IsZero() && !s.now().Before(s.armed) }

func (s *screen) key(key string) tea.Cmd {
	// No is taken at once where the question is known already.
	if key == "ctrl+c" || s.confirm != "" && slices.Contains([]string{"n", "q", "ctrl+d"}, key) {
		return s.finish(model.AnswerDeny)
	}
	if !s.ready() {
		// Who types on still means something else.
		if !s.armed.IsZero() {
			s.armed = s.now().Add(settle)
		}
		return wake(settle)
	}
	s.hint = ""
	if s.confirm != "" {
		return s.confirmed(key)
	}
	if s.scroll(key) {
		return nil
	}
	switch key {
	case "esc", "q", "ctrl+d":
		return s.finish(model.AnswerDeny)
	case "space", " ":
		s.toggle()
		return nil
	}
	answer, ok := answerOf(key)
	if !ok || !slices.Contains(s.choices, answer) {
		s.hint = "not a choice here"
		return nil
	}
	return s.choose(answer)
}

func answerOf(key string) (model.Answer, bool) {
	for answer, k := range keys {
		if k == key {
			return answer, true
		}
	}
	return "", false
}

// choose takes an answer, or asks for a second key: for what writes a file, and
// for every yes to something dangerous.
func (s *screen) choose(answer model.Answer) tea.Cmd {
	if answer.Allows() && s.hunks > 0 && !slices.Contains(s.accepted, true) {
		s.hint = "no hunk is selected: n refuses, space selects"
		return nil
	}
	danger := answer.Allows() && HighDanger(s.dangers)
	if !danger && answer != model.AnswerAlways && answer != model.AnswerNever {
		return s.finish(answer)
	}
	s.confirm = answer
	if danger {
		// The second key must not be part of one quick movement.
		s.armed = s.now().Add(settle)
		return wake(settle)
	}
	return nil
}

func (s *screen) confirmed(key string) tea.Cmd {
	switch key {
	case "enter":
		return s.finish(s.confirm)
	case "esc", "backspace":
		s.confirm = ""
		s.clamp()
	default:
		if !s.scroll(key) {
			s.hint = "Enter confirms, Esc goes back"
		}
	}
	return nil
}

func (s *screen) finish(answer model.Answer) tea.Cmd {
	s.done = true
	s.reply = model.Reply{Answer: answer}
	if answer.Allows() && slices.Contains(s.accepted, false) {
		s.reply.Hunks = []int{}
		for i, ok := range s.accepted {
			if ok {
				s.reply.Hunks = append(s.reply.Hunks, i+1)
			}
		}
	}
	return tea.Quit
}

// scroll moves the document; it reports whether the key was one of its own.
func (s *screen) scroll(key string) bool {
	page := max(s.body()-1, 1)
	switch key {
	case "down", "j":
		s.offset++
	case "up", "k":
		s.offset--
	case "pgdown", "ctrl+f", "f":
		s.offset += page
	case "pgup", "ctrl+b", "b":
		s.offset -= page
	case "home", "g":
		s.offset = 0
	case "end", "G":
		s.offset = len(s.lines)
	case "tab", "]":
		s.jump(1)
	case "shift+tab", "[":
		s.jump(-1)
	default:
		return false
	}
	s.clamp()
	return true
}

// jump goes to the next hunk or the one before.
func (s *screen) jump(by int) {
	if s.hunks == 0 {
		return
	}
	s.hunk = min(max(s.hunk+by, 1), s.hunks)
	s.wrap()
	s.offset = s.heads[s.hunk-1]
}

// toggle selects or leaves out the hunk at hand: the one that was jumped to, or
// the first on the screen.
func (s *screen) toggle() {
	if s.hunks < 2 {
		s.hint = "there is nothing to select"
		return
	}
	if s.hunk == 0 {
		s.jump(1)
		s.clamp()
	}
	s.accepted[s.hunk-1] = !s.accepted[s.hunk-1]
	s.wrap()
}

// resize fits the document to a new size of the window; the row at the top stays
// there.
func (s *screen) resize(width, height int) {
	top := 0
	if s.offset > 0 && s.offset < len(s.lines) {
		top = s.lines[s.offset].row
	}
	s.width, s.height = max(width, 1), max(height, 1)
	s.wrap()
	s.offset, _ = slices.BinarySearchFunc(s.lines, top, func(l screenLine, row int) int { return l.row - row })
	s.clamp()
}

func (s *screen) clamp() {
	s.offset = max(min(s.offset, len(s.lines)-s.body()), 0)
}
