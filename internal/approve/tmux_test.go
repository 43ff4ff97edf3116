//go:build unix

package approve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lictor-policy/lictor/internal/model"
)

// pane is a shell in a real tmux, in which this test program asks.
type pane struct {
	t      *testing.T
	socket string
	out    string
}

// ask is what the re-executed program does in the pane.
type ask struct {
	Request model.Request
	Options TerminalOptions
	Limit   time.Duration
	Panic   bool
	Out     string

	background bool
}

func openPane(t *testing.T, width, height int, job ask, env ...string) *pane {
	t.Helper()
	if testing.Short() {
		t.Skip("tmux tests take seconds each")
	}
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("needs tmux")
	}
	dir, err := os.MkdirTemp("", "ask")
	require.NoError(t, err)
	p := &pane{t: t, socket: filepath.Join(dir, "tmux"), out: filepath.Join(dir, "out.json")}
	t.Cleanup(func() {
		_ = exec.Command(tmux, "-S", p.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	job.Out = p.out
	data, err := json.Marshal(job)
	require.NoError(t, err)
	jobFile := filepath.Join(dir, "job.json")
	require.NoError(t, os.WriteFile(jobFile, data, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "env PS1='READY> ' ENV= sh")
	p.see("READY>")
	// Standard input and output belong to somebody else, as in a hook.
	line := fmt.Sprintf("APPROVE_TEST_ROLE=terminal APPROVE_TEST_JOB=%s %s %s </dev/null | cat", jobFile, strings.Join(env, " "), self)
	if job.background {
		line = "set -m; { " + line + "; } & wait"
	}
	script := filepath.Join(dir, "go")
	require.NoError(t, os.WriteFile(script, []byte(line+"\n"), 0o600))
	p.send(". "+script, "Enter")
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	require.NoError(p.t, err, "tmux %v: %s", args, out)
	return string(out)
}

func (p *pane) send(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

func (p *pane) screen() string { p.t.Helper(); return p.tmux("capture-pane", "-p") }

// see waits until the text stands on the screen, and returns the screen.
func (p *pane) see(want string) string {
	p.t.Helper()
	var last string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if last = p.screen(); strings.Contains(last, want) {
			return last
		}
	}
	require.Fail(p.t, "not on the screen: "+want, "%s", last)
	return ""
}

// question waits until the question is there and its keys count.
func (p *pane) question(want string) string {
	p.t.Helper()
	s := p.see(want)
	// The screen is seen before its program has looked at the clock, on a busy
	// machine long before.
	time.Sleep(settle + time.Second)
	return s
}

// reply waits for the answer, and checks that the screen is as before.
func (p *pane) reply() outcome {
	p.t.Helper()
	var out outcome
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(30 * time.Millisecond) {
		data, err := os.ReadFile(p.out)
		if err == nil {
			require.NoError(p.t, json.Unmarshal(data, &out))
			break
		}
		require.True(p.t, time.Now().Before(end), "no reply; the screen is\n%s", p.screen())
	}
	p.see("BACK IN THE SHELL")
	assert.Equal(p.t, "0", strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on}")), "still on the other screen")
	p.send("echo modes=$(stty -a | tr ' ' '\\n' | grep -cx -e icanon -e echo -e isig)", "Enter")
	p.see("modes=3")
	return out
}

func (p *pane) none() {
	p.t.Helper()
	_, err := os.Stat(p.out)
	require.Error(p.t, err, "answered already")
}

func TestTerminalAnswers(t *testing.T) {
	cases := []struct {
		name string
		keys []string
		want model.Answer
	}{
		{"once", []string{"y"}, model.AnswerOnce},
		{"session", []string{"s"}, model.AnswerSession},
		{"always", []string{"a", "Enter"}, model.AnswerAlways},
		{"always, taken back", []string{"a", "Escape", "n"}, model.AnswerDeny},
		{"deny", []string{"n"}, model.AnswerDeny},
		{"never", []string{"x", "Enter"}, model.AnswerNever},
		{"control-c", []string{"C-c"}, model.AnswerDeny},
		{"escape", []string{"Escape"}, model.AnswerDeny},
		{"other keys do nothing", []string{"z", "Enter", "1", "y"}, model.AnswerOnce},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := openPane(t, 90, 30, ask{Request: command(t, "go test ./... && npm run lint", "Bash(go test *)")})
			s := p.question("bash wants to run a command")
			assert.Contains(t, s, "$ go test ./... && npm run lint")
			assert.Contains(t, s, "Parts: 2, of which no rule covers 1")
			assert.Contains(t, s, "✓ go test ./...  Bash(go test *)")
			assert.Contains(t, s, "? npm run lint")
			assert.Contains(t, s, " lictor asks")
			assert.Contains(t, s, "runs without a sandbox")
			assert.Contains(t, s, "a  yes, always: Bash(go *), Bash(npm *)")
			for _, key := range c.keys {
				p.send(key)
				time.Sleep(150 * time.Millisecond)
			}
			got := p.reply()
			assert.Empty(t, got.Err)
			assert.Equal(t, c.want, got.Reply.Answer)
			assert.NotEmpty(t, got.Reply.By)
			assert.Contains(t, got.Reply.From, "terminal /dev/")
			assert.WithinDuration(t, time.Now(), got.Reply.At, time.Minute)
		})
	}
}

func TestTerminalShowsTheRulesBeforeTheyAreWritten(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "go vet ./...")})
	p.question("wants to run")
	p.send("a")
	s := p.see("Enter = yes, do it")
	assert.Contains(t, s, "+ Bash(go *)")
	p.none()
	p.send("Enter")
	assert.Equal(t, model.AnswerAlways, p.reply().Reply.Answer)
}

func TestTerminalDangerLooksDifferentAndNeedsTwoKeys(t *testing.T) {
	r := command(t, "rm -rf build")
	r.Targets[0].OutsideSandbox = true
	p := openPane(t, 80, 24, ask{Request: r})
	s := p.question("OUTSIDE the sandbox")
	assert.Contains(t, s, "DANGER: leaves the sandbox, deletes or throws away data")
	assert.Regexp(t, regexp.MustCompile(`\x1b\[[0-9;]*41m[^\n]*DANGER`), p.tmux("capture-pane", "-p", "-e"), "a red banner")
	p.send("y", "Enter")
	time.Sleep(300 * time.Millisecond)
	p.none()
	p.question("Enter = yes, do it")
	p.send("Enter")
	assert.Equal(t, model.AnswerOnce, p.reply().Reply.Answer)
}

func TestTerminalDropsWhatWasTypedBefore(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make deploy")})
	for range 12 {
		p.send("y", "a", "Enter")
		time.Sleep(40 * time.Millisecond)
		if strings.Contains(p.screen(), "wants to run") {
			p.send("y", "s", "Enter")
			break
		}
	}
	p.see("wants to run")
	p.send("y")
	time.Sleep(settle + 600*time.Millisecond)
	p.none()
	assert.NotContains(t, p.screen(), "Enter = yes")
	p.send("n")
	assert.Equal(t, model.AnswerDeny, p.reply().Reply.Answer)
}

func TestTerminalControlCAlwaysCounts(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make deploy")})
	p.see("wants to run")
	p.send("C-c")
	assert.Equal(t, model.AnswerDeny, p.reply().Reply.Answer)
}

func TestTerminalSelectsHunks(t *testing.T) {
	r := change(threeHunks())
	p := openPane(t, 80, 44, ask{Request: r})
	s := p.question("hunk 1 of 3")
	assert.Contains(t, s, "edit_file wants to write a file")
	assert.Contains(t, s, "-one")
	assert.Contains(t, s, "+ONE")
	assert.Contains(t, s, "[x] hunk 2 of 3")
	coloured := p.tmux("capture-pane", "-p", "-e")
	assert.Regexp(t, regexp.MustCompile(`\x1b\[32m\+ONE`), coloured)
	assert.Regexp(t, regexp.MustCompile(`\x1b\[31m-one`), coloured)
	p.send("Tab", "Tab", "Space")
	p.see("[ ] hunk 2 of 3")
	p.see("2/3 hunks")
	p.send("y")
	got := p.reply()
	assert.Equal(t, model.AnswerOnce, got.Reply.Answer)
	assert.Equal(t, []int{1, 3}, got.Reply.Hunks)
	applied, err := Apply(r.Changes, got.Reply.Hunks)
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(threeHunks().New, "TWO", "two", 1), applied[0].New)
}

func TestTerminalWithoutAnyHunkCannotSayYes(t *testing.T) {
	p := openPane(t, 80, 44, ask{Request: change(threeHunks())})
	p.question("hunk 1 of 3")
	p.send("Tab", "Space", "Tab", "Space", "Tab", "Space")
	p.see("0/3 hunks")
	p.send("y")
	p.see("no hunk is selected")
	p.none()
	p.send("n")
	got := p.reply()
	assert.Equal(t, model.AnswerDeny, got.Reply.Answer)
	assert.Empty(t, got.Reply.Hunks)
}

func TestTerminalLongDiff(t *testing.T) {
	var before, after strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&before, "line %d of the old text\n", i)
		fmt.Fprintf(&after, "line %d of the new text\n", i)
	}
	p := openPane(t, 80, 24, ask{Request: change(model.Change{Path: "big.txt", Old: text(before.String()), New: after.String()})})
	s := p.question("more below")
	assert.Contains(t, s, "y  yes, once", "the choices stay in sight")
	p.send("G")
	s = p.see("+line 4999 of the new text")
	assert.Contains(t, s, "the end")
	p.send("g")
	p.see("edit_file wants")
	p.send("PgDn", "PgDn", "PgDn")
	p.see("-line 3")
	p.send("y")
	assert.Equal(t, model.AnswerOnce, p.reply().Reply.Answer)
}

func TestTerminalFollowsTheWindow(t *testing.T) {
	p := openPane(t, 100, 30, ask{Request: command(t, "go build ./cmd/server && ./server --config configs/production.yaml --verbose --listen 127.0.0.1:8080")})
	p.question("wants to run")
	p.tmux("resize-window", "-x", "40", "-y", "13")
	time.Sleep(300 * time.Millisecond)
	s := p.see("y=once")
	for line := range strings.SplitSeq(s, "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 40)
	}
	p.tmux("resize-window", "-x", "120", "-y", "40")
	p.see("y  yes, once")
	p.send("n")
	assert.Equal(t, model.AnswerDeny, p.reply().Reply.Answer)
}

func TestTerminalNarrow(t *testing.T) {
	r := command(t, "pytest tests/unit/test_payments.py -k 'refund and not slow' --maxfail=1 && npm publish", "Bash(pytest *)")
	p := openPane(t, 40, 16, ask{Request: r})
	s := p.question("wants to run")
	for _, want := range []string{"y", "n", "more below"} {
		assert.Contains(t, s, want)
	}
	p.send("G")
	end := p.see("the end")
	assert.Contains(t, end, "Bash(npm *)")
	p.send("a")
	p.see("Enter = yes")
	p.send("Escape")
	time.Sleep(200 * time.Millisecond)
	p.send("y")
	assert.Equal(t, model.AnswerOnce, p.reply().Reply.Answer)
}

func TestTerminalShowsHiddenCharacters(t *testing.T) {
	r := command(t, "echo 'ok \u202e# fr- mr' \u200b\x1b[2J\u2066; rm -rf ~/src")
	p := openPane(t, 80, 30, ask{Request: r})
	s := p.question("DANGER: holds hidden")
	assert.Contains(t, s, `\u202e`)
	assert.Contains(t, s, `\u200b`)
	assert.Contains(t, s, `\x1b[2J`)
	assert.Contains(t, s, "U+202E changes the reading direction")
	assert.NotContains(t, s, "\u202e")
	assert.NotContains(t, s, "\u200b")
	p.send("y")
	time.Sleep(200 * time.Millisecond)
	p.none()
	p.send("n")
	assert.Equal(t, model.AnswerDeny, p.reply().Reply.Answer)
}

func TestTerminalGivesUpInTime(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make"), Limit: 2 * time.Second})
	p.see("s left")
	got := p.reply()
	assert.Equal(t, model.AnswerDeny, got.Reply.Answer)
	assert.Equal(t, ErrTimeout.Error(), got.Err)
}

func TestTerminalIsPutBackAfterACrash(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make"), Panic: true, Limit: time.Minute})
	p.see("wants to run")
	got := p.reply()
	assert.Equal(t, model.AnswerDeny, got.Reply.Answer)
	assert.Contains(t, got.Err, "the clock broke")
}

func TestTerminalIsPutBackAfterASignal(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make")})
	p.question("wants to run")
	pid := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pgrep", "-P", pid).Output()
	require.NoError(t, err)
	for child := range strings.FieldsSeq(string(out)) {
		name, _ := exec.Command("ps", "-o", "comm=", "-p", child).Output()
		if strings.Contains(string(name), "approve") {
			require.NoError(t, exec.Command("kill", "-TERM", child).Run())
		}
	}
	got := p.reply()
	assert.Equal(t, model.AnswerDeny, got.Reply.Answer)
	assert.Equal(t, ErrWithdrawn.Error(), got.Err)
}

func TestTerminalPlainLines(t *testing.T) {
	p := openPane(t, 80, 40, ask{Request: command(t, "go test ./...")}, "TERM=dumb")
	p.send("y", "Enter")
	p.question("Your answer:")
	p.none()
	p.send("what", "Enter")
	p.see("Write one of the letters")
	p.send("a", "Enter")
	p.see("adds Bash(go *)")
	p.send("yes", "Enter")
	assert.Equal(t, model.AnswerAlways, p.reply().Reply.Answer)
}

func TestTerminalPlainLinesSelectHunks(t *testing.T) {
	p := openPane(t, 80, 60, ask{Request: change(threeHunks()), Options: TerminalOptions{Plain: true}})
	p.question("Your answer:")
	p.send("y", "Enter")
	p.see("Which of the 3 hunks")
	p.send("1,3", "Enter")
	got := p.reply()
	assert.Equal(t, model.AnswerOnce, got.Reply.Answer)
	assert.Equal(t, []int{1, 3}, got.Reply.Hunks)
}

func TestTerminalPlainLinesControlC(t *testing.T) {
	p := openPane(t, 80, 40, ask{Request: command(t, "go test ./...")}, "TERM=dumb")
	p.question("Your answer:")
	p.send("C-c")
	time.Sleep(300 * time.Millisecond)
	data, err := os.ReadFile(p.out)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"answer":"deny"`)
}

func TestTerminalOfABackgroundProcessIsNotTouched(t *testing.T) {
	p := openPane(t, 80, 24, ask{Request: command(t, "make"), background: true})
	got := p.reply()
	assert.Equal(t, model.AnswerDeny, got.Reply.Answer)
	assert.Contains(t, got.Err, "not in the foreground")
}

func TestTerminalThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	data, err := json.Marshal(ask{Request: command(t, "make"), Out: out})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "job"), data, 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "APPROVE_TEST_ROLE=terminal", "APPROVE_TEST_JOB="+filepath.Join(dir, "job"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, cmd.Run())
	data, err = os.ReadFile(out)
	require.NoError(t, err)
	assert.Contains(t, string(data), ErrNoTerminal.Error())
	assert.Contains(t, string(data), `"answer":"deny"`)
}

func TestTerminalWaitsForOtherProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	held, err := takeLock(file)
	require.NoError(t, err)
	defer held.release()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := NewTerminal(TerminalOptions{LockFile: file}).Ask(ctx, command(t, "make"))
	assert.ErrorIs(t, err, ErrTimeout)
	assert.Equal(t, model.AnswerDeny, got)
}
