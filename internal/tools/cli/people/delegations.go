package people

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Delegations are the commands on who decides in whose place (contract 11).
type Delegations struct {
	List service.List[countersign.Delegation] `cmd:"" help:"List who decides approvals for whom, and until when." example:"delegations list"`
	Put  DelegationsPut                       `cmd:"" help:"Let another user decide while one is away (that user, or an ADMIN)." example:"delegations put ann@example.com --to cem@example.com --until 2026-12-31T18:00:00Z --reason holidays"`
	End  DelegationsEnd                       `cmd:"" help:"End a delegation." example:"delegations end ann@example.com"`
}

// NewDelegations returns the commands, with what each asks for and prints.
func NewDelegations() (c Delegations) {
	c.List = service.Lists((*client.Client).Delegations, delegationTable)
	return c
}

var delegationTable = service.Columns[countersign.Delegation]{
	Heading: []string{"user", "delegate", "from", "until", "reason"},
	Row: func(x countersign.Delegation) []string {
		return []string{x.User, x.Delegate, x.From.UTC().Format(time.RFC3339), x.Until.UTC().Format(time.RFC3339), x.Reason}
	},
}

// DelegationsPut saves.
type DelegationsPut struct {
	User   string    `arg:"" help:"The e-mail address of who is away."`
	To     string    `required:"" help:"The e-mail address of who decides instead." placeholder:"EMAIL"`
	From   time.Time `help:"When it begins; default now." placeholder:"2026-12-24T00:00:00Z"`
	Until  time.Time `required:"" help:"When it ends, 90 days after it begins at most." placeholder:"2026-12-31T18:00:00Z"`
	Reason string    `required:"" help:"Why."`
	service.Asking
}

// Run saves the delegation.
func (p *DelegationsPut) Run(t *terminal.Terminal) error {
	w := countersign.DelegationWrite{Delegate: p.To, From: p.From, Until: p.Until, Reason: p.Reason}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Delegation, error) { return c.Delegate(t.Context, p.User, w) },
		func(out io.Writer, x *countersign.Delegation) {
			fmt.Fprintf(out, "%s decides in place of %s until %s\n", words.Plain(x.Delegate), words.Plain(x.User), x.Until.UTC().Format(time.RFC3339))
		})
}

// DelegationsEnd ends one.
type DelegationsEnd struct {
	User string `arg:"" help:"The e-mail address of who was away."`
	service.Asking
}

// Run ends the delegation.
func (d *DelegationsEnd) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, d.Asking, func(c *client.Client) (*countersign.Delegation, error) { return c.EndDelegation(t.Context, d.User) },
		func(w io.Writer, x *countersign.Delegation) {
			fmt.Fprintf(w, "%s decides no longer in place of %s\n", words.Plain(x.Delegate), words.Plain(x.User))
		})
}
