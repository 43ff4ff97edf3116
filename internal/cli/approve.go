package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lictor-policy/lictor/internal/approve"
	"github.com/lictor-policy/lictor/internal/model"
)

// openQueue opens the user's store of open questions.
func openQueue(o approve.QueueOptions) (*approve.Queue, error) {
	places, err := userPlaces()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(places.HomeDir, 0o700); err != nil {
		return nil, &exitError{code: exitDeny, err: err}
	}
	queue, err := approve.OpenQueue(places.ApprovalsDir, o)
	if err != nil {
		return nil, &exitError{code: exitDeny, err: err}
	}
	return queue, nil
}

func newApprove(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approve",
		Short: "See and answer questions that wait for you",
		Long: `approve is for agents that run without a terminal of their own: their questions
wait here until you answer, or until their time is up, which is a no.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newApproveList(s), newApproveShow(s), newApproveAnswer(s), newApproveWatch(s))
	return cmd
}

func newApproveList(s *streams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the open questions",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			queue, err := openQueue(approve.QueueOptions{})
			if err != nil {
				return err
			}
			questions, listErr := queue.List()
			if format == "json" {
				if questions == nil {
					questions = []approve.Question{}
				}
				if err := writeJSON(s.out, questions); err != nil {
					return fail(exitUsage, "writing the list: %v", err)
				}
			} else {
				for i := range questions {
					printQuestion(s, &questions[i])
				}
				if len(questions) == 0 {
					fmt.Fprintln(s.out, "no open questions")
				}
			}
			if listErr != nil {
				return &exitError{code: exitDeny, err: listErr}
			}
			return nil
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

func printQuestion(s *streams, q *approve.Question) {
	left := time.Until(q.Expires).Round(time.Second)
	fmt.Fprintf(s.out, "%s  %s left  %s  %s\n", q.ID, left, q.Folder, approve.Summary(&q.Request))
}

func newApproveShow(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a question with everything it is about",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			queue, err := openQueue(approve.QueueOptions{})
			if err != nil {
				return err
			}
			q, err := queue.Show(args[0])
			if err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			width := 80
			if f, ok := s.out.(*os.File); ok {
				if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
					width = w
				}
			}
			fmt.Fprintln(s.out, approve.Render(approve.Document(&q.Request), width, coloured(s.out)))
			var choices []string
			for _, a := range approve.Choices(&q.Request) {
				choices = append(choices, string(a))
			}
			fmt.Fprintf(s.out, "\nlictor approve answer %s %s\n", q.ID, strings.Join(choices, "|"))
			return nil
		},
	}
}

func newApproveAnswer(s *streams) *cobra.Command {
	var (
		hunks string
		grant time.Duration
	)
	cmd := &cobra.Command{
		Use:   "answer ID once|session|always|deny|never",
		Short: "Answer a question",
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			answer, ok := approve.ParseAnswer(args[1])
			if !ok {
				return fail(exitUsage, "an answer is once, session, always, deny or never, not %q", args[1])
			}
			queue, err := openQueue(approve.QueueOptions{})
			if err != nil {
				return err
			}
			if grant > 0 && answer != model.AnswerSession {
				return fail(exitUsage, "--for limits a session answer, not %q", answer)
			}
			by, from := approve.Whoami("lictor approve")
			reply := model.Reply{Answer: answer, By: by, From: from, At: time.Now(), For: grant}
			if hunks != "" {
				q, err := queue.Show(args[0])
				if err != nil {
					return &exitError{code: exitDeny, err: err}
				}
				if reply.Hunks, err = approve.ParseHunks(hunks, len(approve.Hunks(q.Request.Changes))); err != nil {
					return &exitError{code: exitUsage, err: err}
				}
			}
			if err := queue.AnswerReply(args[0], reply); err != nil {
				return &exitError{code: exitDeny, err: err}
			}
			fmt.Fprintf(s.out, "%s: %s\n", args[0], answer)
			return nil
		},
	}
	cmd.Flags().StringVar(&hunks, "hunks", "", "accept only these `hunks` of a file change (1,3-5)")
	cmd.Flags().DurationVar(&grant, "for", 0, "let a session answer hold for this `time`")
	return cmd
}

func newApproveWatch(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Print questions as they come and as they end",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			queue, err := openQueue(approve.QueueOptions{})
			if err != nil {
				return err
			}
			for event := range queue.Watch(cmd.Context()) {
				if event.Ended() {
					how := "ended"
					if event.Decision != nil {
						how = string(event.Decision.Outcome)
					}
					fmt.Fprintf(s.out, "%s  %s\n", event.ID, how)
					continue
				}
				printQuestion(s, event.Question)
			}
			return nil
		},
	}
}

// approver builds the approver that --ask names: the terminal, the queue, or
// nobody. Empty means the terminal, where there is one.
func approver(kind string, limit time.Duration, folder, agent string) (model.Approver, error) {
	switch kind {
	case "none":
		return nil, nil
	case "", "terminal":
		places, err := userPlaces()
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(places.ApprovalsDir, 0o700); err != nil {
			return nil, err
		}
		terminal := approve.NewTerminal(approve.TerminalOptions{LockFile: places.ApprovalsDir + string(os.PathSeparator) + "terminal.lock"})
		return approve.NewSerial(terminal, approve.SerialOptions{Limit: limit}), nil
	case "queue":
		return openQueue(approve.QueueOptions{Limit: limit, Folder: folder, Agent: agent})
	}
	return nil, fail(exitUsage, "--ask is terminal, queue or none, not %s", strconv.Quote(kind))
}
