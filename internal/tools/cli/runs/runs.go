// Package runs has the commands on runs: start, show, watch, probe, reconcile, settle, redact; and those that stop
// all runs or find some.
package runs

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on runs (specification 2.10, contract 6). Runs of agents
// and teams are started below agents and teams.
type Commands struct {
	List      List      `cmd:"" help:"List the runs, the newest first." example:"runs list --status WAITING_APPROVAL"`
	Start     Start     `cmd:"" help:"Start a plan's run (OPERATOR)." example:"runs start plan-1 --key refund-of-A-48213 --watch"`
	Again     Again     `cmd:"" help:"Run an ended run again with other inputs, as a new run with a key of its own (OPERATOR)." example:"runs again run-1 --set 'refund.amount:=24.90' --reason 'the amount was wrong'"`
	Watch     Watch     `cmd:"" help:"Print each change of a run until it ends or a person is needed." example:"runs watch run-1 --wait"`
	Show      Show      `cmd:"" help:"Show a run: its steps, what was sent, what came back, who decided." example:"runs show run-1"`
	Rehearsal Rehearsal `cmd:"" help:"Say whether a LIVE run sends what was rehearsed; exit status 1 where it doesn't." example:"runs rehearsal run-1"`
	Cancel    Cancel    `cmd:"" help:"Cancel a run (OPERATOR)." example:"runs cancel run-1 --reason 'the customer called'"`
	Probe     Probe     `cmd:"" help:"Send an uncertain step's probe, a read that shows what happened (APPROVER)." example:"runs probe run-1"`
	Settle    Settle    `cmd:"" help:"End an uncertain step by what its receiver has signed, or have the receiver withdraw a key that it never saw (APPROVER)." example:"runs settle run-1 --confirm --reason 'the shop says that it was paid'"`
	Reconcile Reconcile `cmd:"" help:"Say, with evidence, what became of an uncertain step (APPROVER)." example:"runs reconcile run-1 --completed --evidence 'refund r-9 is in the ledger' --result '{\"status\":\"refunded\"}'"`
	Hold      Hold      `cmd:"" help:"Keep a run from being redacted and archived, or end that (ADMIN)." example:"runs hold run-1 --reason 'the auditors ask for it'"`
	Redact    Redact    `cmd:"" help:"Remove what an ended run holds, for good (ADMIN who had no part in it)." example:"runs redact run-1 --reason 'request 48 of the data protection officer'"`
}

// List is the command `runs list`.
type List struct {
	Status string `enum:",READY,RUNNING,WAITING_APPROVAL,RECOVERY_REQUIRED,COMPLETED,FAILED,CANCELLED" default:"" help:"Only those of this status." placeholder:"STATUS"`
	Plan   string `help:"Only those of this plan." placeholder:"ID"`

	Text       string `help:"Only those with this text or number in a step's inputs or answers: all of a value, or from 3 characters on its beginning." placeholder:"TEXT"`
	Reason     string `help:"Only those that ended with this error code, such as receiver_refused." placeholder:"CODE"`
	Agent      string `help:"Only this agent's own." placeholder:"ID"`
	Capability string `help:"Only those that call it: NAME or PROJECT/NAME." placeholder:"NAME"`
	Since      string `help:"Only those started then or later: a time such as 2026-11-21T15:04:05Z, or how long ago, such as 24h." placeholder:"TIME"`
	Until      string `help:"Only those started before: a time, or how long ago." placeholder:"TIME"`
	service.Listing
}

var runTable = service.Columns[countersign.Run]{
	Heading: []string{"id", "status", "mode", "plan", "waits for", "by", "created", "error"},
	Row: func(r countersign.Run) []string {
		waits := ""
		if r.WaitingFor != nil {
			waits = r.WaitingFor.Kind
		}
		return []string{r.ID, string(r.Status), r.Mode, r.PlanID, waits, words.Called(r.RequestedBy, r.RequestedByName), words.Moment(r.CreatedAt), words.JoinedBy("; ", words.EndedBecause(&r), r.HappenedWords())}
	},
}

// Run lists the runs.
func (l *List) Run(t *terminal.Terminal) error {
	since, err := typed.Instant(l.Since, time.Now())
	if err != nil {
		return err
	}
	until, err := typed.Instant(l.Until, time.Now())
	if err != nil {
		return err
	}
	return service.ListRecords(t, l.Listing, func(c *client.Client, p client.Paging) (*countersign.Page[countersign.Run], error) {
		return c.Runs(t.Context, client.RunFilter{
			Paging: p, Status: countersign.RunStatus(l.Status), PlanID: l.Plan, AgentID: l.Agent, Text: l.Text,
			Reason: countersign.Code(l.Reason), Capability: l.Capability, Since: since, Until: until,
		})
	}, runTable)
}

// Start is the command `runs start`.
type Start struct {
	Plan string `arg:"" help:"The plan's id."`
	Starting
}

// Run starts the plan.
func (s *Start) Run(t *terminal.Terminal) error {
	return s.Start(t, func(c *client.Client, key client.StartOption) (*client.Started, error) {
		return c.StartRun(t.Context, countersign.RunStart{PlanID: s.Plan, Reason: s.Reason}, key)
	})
}

// Starting is the flags of every command that starts a run.
type Starting struct {
	Key    string `help:"Idempotency key, best a stable id of what is to be done: the same key again gives the same run. Without it a new key is made and printed, and a retry starts a second run." placeholder:"KEY"`
	Reason string `help:"Why it is started: shown to approvers, and kept in the audit log." placeholder:"TEXT"`
	Watch  bool   `help:"Print each change until the run ends or a person is needed; exit status as of runs watch."`
	Wait   bool   `help:"As --watch, and go on where a person is needed."`
	service.Asking
}

// Start chooses the idempotency key before it sends the request, so that the request can be
// repeated whatever the answer is.
func (s Starting) Start(t *terminal.Terminal, ask func(*client.Client, client.StartOption) (*client.Started, error)) error {
	c, err := s.Client(t)
	if err != nil {
		return err
	}
	key := words.First(s.Key, client.NewKey())
	started, err := ask(c, client.Key(key))
	var lost *client.ConnectionError
	if errors.As(err, &lost) {
		return fmt.Errorf("%w; repeat the command with --key %s: it starts the run only if it was not started", err, key)
	}
	if err != nil {
		return err
	}
	if err := s.Print(t, started.Run, func(w io.Writer) { printStarted(w, started) }); err != nil || !s.Watch && !s.Wait {
		return err
	}
	return watch(t, c, s.Output, started.ID, s.Wait)
}

func printStarted(w io.Writer, s *client.Started) {
	said := "started"
	if s.Replayed {
		said = "started before under this key; it is"
	}
	fmt.Fprintf(w, "%s %s %s, key %s\n", s.ID, said, words.JoinedBy(": ", string(s.Status), s.HappenedWords()), words.Plain(s.IdempotencyKey))
}

// Cancel is the command `runs cancel`.
type Cancel struct {
	ID     string `arg:"" help:"The run's id."`
	Reason string `required:"" help:"Why; kept in the audit log."`
	service.Asking
}

// Run cancels the run. A side effect in flight makes the run RECOVERY_REQUIRED, since it may
// have happened.
func (r *Cancel) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, r.Asking, func(c *client.Client) (*countersign.Run, error) { return c.CancelRun(t.Context, r.ID, r.Reason) }, printState)
}

// printState prints a run after a change that a person made.
func printState(w io.Writer, r *countersign.Run) {
	fmt.Fprintf(w, "%s %s\n", r.ID, r.Status)
	if text := words.First(waits(r), r.HappenedWords()); text != "" {
		fmt.Fprintln(w, words.Plain(text))
	}
}

// waits describes what a run waits for, and what makes it continue.
func waits(r *countersign.Run) string {
	w := r.WaitingFor
	switch {
	case w == nil:
		return ""
	case w.Kind == countersign.WaitSlot:
		return "waits for a slot, which comes by itself"
	case w.Kind == countersign.WaitStop:
		return fmt.Sprintf("LIVE steps are stopped; waits for an %s: %s, or 'countersign go'", w.Role, w.Operation)
	case w.Kind == countersign.WaitApproval:
		return fmt.Sprintf("waits for an %s until %s: %s, or 'countersign approvals decide %s'", w.Role, words.Moment(w.ExpiresAt), w.Operation, w.ApprovalID)
	case w.Kind != countersign.WaitReconcile: // of a later release
		return fmt.Sprintf("waits for an %s (%s %s): %s", w.Role, w.Kind, w.ApprovalID, w.Operation)
	case !w.NotBefore.IsZero():
		return fmt.Sprintf("waits for the answer to step %s, until %s at the latest; then for an %s to say what became of it: %s", w.StepID, words.Moment(w.NotBefore), w.Role, w.Operation)
	default:
		return fmt.Sprintf("waits for an %s to say what became of step %s: %s, or 'countersign runs reconcile %s'", w.Role, w.StepID, w.Operation, r.ID)
	}
}
