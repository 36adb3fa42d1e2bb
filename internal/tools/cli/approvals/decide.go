package approvals

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Decide is the command `approvals decide`.
type Decide struct {
	ID      string `arg:"" help:"The approval's id."`
	Approve bool   `xor:"decision" required:"" help:"Let the request out, once."`
	Reject  bool   `xor:"decision" required:"" help:"Keep it; the run ends FAILED."`
	Reason  string `required:"" help:"Why; kept on the approval and in the audit log."`
	Suggest string `help:"With --reject: the inputs that you would approve, a JSON object, or @FILE." placeholder:"JSON"`
	Digest  string `help:"Decide only if this is the digest of the request, as 'approvals show' printed it." placeholder:"HEX"`
	Yes     bool   `help:"Ask no question."`
	service.Asking
}

// Help explains how scripts should decide.
func (Decide) Help() string {
	return "On a terminal the request is shown and 'yes' must be typed. A script gives the digest of what was looked at instead; --yes alone approves whatever is asked."
}

// Run sends the decision. An approval belongs to exactly one request: the request that was
// shown is the one that is decided.
func (d *Decide) Run(t *terminal.Terminal) error {
	if safetext.Blank(d.Reason) {
		return terminal.Unusablef("--reason must say why")
	}
	w, err := d.write()
	if err != nil {
		return err
	}
	c, err := d.Client(t)
	if err != nil {
		return err
	}
	seen, err := d.settle(t, c)
	if err != nil {
		return err
	}
	if seen != nil {
		w.RequestDigest, w.StateDigest = seen.RequestDigest, seen.StateDigest
	}
	a, err := c.Decide(t.Context, d.ID, w)
	if err != nil {
		return err
	}
	return d.Print(t, a, func(out io.Writer) {
		fmt.Fprintf(out, "%s %s: %s of run %s\n", a.ID, a.Status, words.Plain(a.StepID), a.RunID)
	})
}

func (d *Decide) write() (w countersign.Decision, err error) {
	w = countersign.Decision{Decision: countersign.ApprovalApproved, Reason: d.Reason}
	if d.Reject {
		w.Decision = countersign.ApprovalRejected
	}
	switch {
	case d.Suggest == "":
		return w, nil
	case !d.Reject:
		return w, terminal.Unusablef("--suggest goes with --reject: what is approved is sent as it is")
	}
	w.SuggestedInput, err = typed.ObjectOf("--suggest", d.Suggest)
	return w, err
}

// settle makes sure that somebody has seen the request to be decided: by its digest, by
// showing it, or by --yes. It says what they have seen, nil for nothing.
func (d *Decide) settle(t *terminal.Terminal, c *client.Client) (*countersign.Approval, error) {
	if d.Yes && d.Digest == "" {
		return nil, nil
	}
	const instead = "Look at 'countersign approvals show', then add --digest with its digest, or --yes"
	if d.Digest == "" && !t.Interactive() {
		return nil, terminal.Confirm(t, "", "", instead)
	}
	a, err := c.Approval(t.Context, d.ID)
	switch {
	case err != nil:
		return nil, err
	case d.Digest != "" && !strings.EqualFold(d.Digest, a.RequestDigest):
		return nil, fmt.Errorf("the digest of what %s would send is %s, not %s; nothing was decided: look at it again with 'countersign approvals show'", d.ID, a.RequestDigest, d.Digest)
	case d.Digest != "" || d.Yes || a.Status != countersign.ApprovalPending: // the service refuses an approval that is not pending and says why
		return nil, nil
	}
	printApproval(t.Errs, a)
	question := "\nApprove?"
	if d.Reject {
		question = "\nReject?"
	}
	return a, terminal.Confirm(t, question, "yes", instead)
}
