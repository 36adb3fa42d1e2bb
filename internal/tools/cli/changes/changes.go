// Package changes has the commands on changes that weaken and that several administrators decide.
package changes

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands are the commands on changes that weaken, and that several administrators decide (contract 12.7).
type Commands struct {
	List     service.List[countersign.ProposedChange] `cmd:"" help:"List the proposed changes, newest first (ADMIN)." example:"changes list"`
	Get      service.Show[countersign.ProposedChange] `cmd:"" set:"whose=The change's" help:"Show what it weakens, and who has decided (ADMIN)." example:"changes get chg-1"`
	Decide   Decide                                   `cmd:"" help:"Approve or reject (ADMIN, but never its proposer). The last approval makes it." example:"changes decide chg-1 --approve --reason 'refunds up to 500 are insured'"`
	Make     Make                                     `cmd:"" help:"Make, as its proposer and once, an approved change that answers a secret: a token or a sign-in link." example:"changes make chg-1"`
	Withdraw Withdraw                                 `cmd:"" help:"Take a change back, as its proposer." example:"changes withdraw chg-1"`
}

// New returns the commands, with what each asks for and prints.
func New() (c Commands) {
	c.List, c.Get = service.Lists((*client.Client).Changes, changeTable), service.Shows((*client.Client).Change, printChange)
	return c
}

var changeTable = service.Columns[countersign.ProposedChange]{
	Heading: []string{"id", "status", "title", "proposed by", "proposed", "lapses"},
	Row: func(c countersign.ProposedChange) []string {
		return []string{c.ID, string(c.Status), words.Doubted(c.Title), words.Called(c.ProposedBy, c.ProposedByName), words.Moment(c.ProposedAt), words.Moment(c.ExpiresAt)}
	},
}

func printChange(w io.Writer, c *countersign.ProposedChange) {
	facts := [][2]string{
		{"change", c.ID}, {"title", words.Doubted(c.Title)}, {"status", string(c.Status) + ": " + c.Status.Words()}, {"operation", c.Operation}, {"subject", c.Subject}, {"revision", words.Number(c.Revision)},
		{"reason", words.Doubted(c.Reason)}, {"proposed by", words.Called(c.ProposedBy, c.ProposedByName)}, {"proposed", words.Moment(c.ProposedAt)}, {"lapses", words.Moment(c.ExpiresAt)},
		{"needs", words.Number(c.ApprovalsNeeded) + " approvals"}, {"of groups", strings.Join(c.Groups, ", ")}, {"digest", c.Digest}, {"ended", words.Doubted(c.EndedReason)},
	}
	for _, d := range c.Diff {
		facts = append(facts, [2]string{map[bool]string{true: "WEAKER", false: "changes"}[d.Weakens], words.Doubted(d.Text)}, [2]string{"", d.Path + ": " + exactly(d.Was) + " -> " + exactly(d.Now)})
	}
	for _, d := range c.Decisions {
		facts = append(facts, [2]string{"decided", words.Decided(string(d.Decision), words.Called(d.By, d.ByName), d.At, words.Doubted(d.Reason))})
		if d.Assertion != nil {
			facts = append(facts, [2]string{"", "signed with the passkey " + d.Assertion.CredentialID})
		}
	}
	terminal.Facts(w, facts...)
}

func exactly(v countersign.Value) string {
	if v.IsZero() {
		return "absent"
	}
	return words.Doubted(v.Raw())
}

// Decide is the command `changes decide`.
type Decide struct {
	ID      string `arg:"" help:"The change's id."`
	Approve bool   `xor:"decision" required:"" help:"Approve it."`
	Reject  bool   `xor:"decision" required:"" help:"Reject it."`
	Reason  string `required:"" help:"Why; kept with the change and in the audit log." placeholder:"TEXT"`
	service.Asking
}

// Run decides.
func (d *Decide) Run(t *terminal.Terminal) error {
	w := countersign.ChangeDecision{Decision: countersign.ApprovalRejected, Reason: d.Reason}
	if d.Approve {
		w.Decision = countersign.ApprovalApproved
	}
	return service.ShowRecord(t, d.Asking, func(c *client.Client) (*countersign.ProposedChange, error) {
		return c.DecideChange(t.Context, d.ID, w)
	}, printStanding)
}

// Withdraw is the command `changes withdraw`.
type Withdraw struct {
	ID     string `arg:"" help:"The change's id."`
	Reason string `help:"Why; kept in the audit log." placeholder:"TEXT"`
	service.Asking
}

// Run withdraws.
func (w *Withdraw) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, w.Asking, func(c *client.Client) (*countersign.ProposedChange, error) {
		return c.WithdrawChange(t.Context, w.ID, countersign.ChangeWithdrawal{Reason: w.Reason})
	}, printStanding)
}

func printStanding(w io.Writer, c *countersign.ProposedChange) {
	fmt.Fprintf(w, "%s is %s: %s\n", c.ID, c.Status, c.Status.Words())
}

// Make is the command `changes make`.
type Make struct {
	ID string `arg:"" help:"The change's id."`
	service.Asking
}

// Run makes it.
func (m *Make) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, m.Asking, func(c *client.Client) (*client.Made, error) { return c.MakeChange(t.Context, m.ID) }, func(w io.Writer, made *client.Made) {
		terminal.Facts(w, [2]string{"token", made.ID}, [2]string{"secret", made.Token}, [2]string{"link", made.URL}, [2]string{"signs in", made.Email})
	})
}
