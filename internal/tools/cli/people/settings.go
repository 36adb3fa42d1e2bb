package people

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

// Settings are the commands `settings …`, about the tenant.
type Settings struct {
	Get        SettingsGet        `cmd:"" help:"Show them." example:"settings get"`
	BreakGlass SettingsBreakGlass `cmd:"" help:"Take weakening away on the stopped store, where nobody can decide changes any more. It is audited and told." example:"settings break-glass --tenant default --reason 'nobody else is left'"`

	Set SettingsSet `cmd:"" help:"Change them (ADMIN)." example:"settings set --decision-assertion PASSKEY --reason 'policy 7.2'"`
}

// SettingsBreakGlass is the command `settings break-glass`.
type SettingsBreakGlass struct {
	Tenant string `required:"" help:"The tenant." placeholder:"ID"`
	Reason string `required:"" help:"Why; kept in the audit log, shown on every page for 30 days, and told to all administrators." placeholder:"TEXT"`
	Store  string `help:"Directory of the store, or its postgres:// URL." placeholder:"./countersign-data"`

	Take func(t *terminal.Terminal, store, tenant, reason string) error `kong:"-"` // by the program, which opens stores
}

// Run takes it away.
func (b *SettingsBreakGlass) Run(t *terminal.Terminal) error {
	if err := b.Take(t, b.Store, b.Tenant, b.Reason); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "tenant %s makes changes that weaken at once from now on; its administrators are told at the next start\n", b.Tenant)
	return nil
}

// SettingsGet is the command `settings get`.
type SettingsGet struct{ service.Asking }

// Run asks.
func (s *SettingsGet) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*countersign.TenantSettings, error) { return c.Settings(t.Context) }, printSettings)
}

// SettingsSet is the command `settings set`.
type SettingsSet struct {
	DecisionAssertion string   `required:"" enum:"NONE,PASSKEY" help:"PASSKEY: each approval is signed with a passkey of whoever gives it, on its page in the console." placeholder:"NONE|PASSKEY"`
	Weakening         *int64   `help:"Changes that weaken are proposed, and made once so many other administrators have approved: 1 to 3; 0 ends it. Left out: as it is." placeholder:"N"`
	Group             []string `help:"With --weakening: every decider is a member of this group. Repeat it for several: each has at least one decider." placeholder:"ID"`
	Reason            string   `required:"" help:"Why; kept in the audit log." placeholder:"TEXT"`
	service.Asking
}

// Run changes them from the revision that they have now.
func (s *SettingsSet) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*countersign.TenantSettings, error) {
		now, err := c.Settings(t.Context)
		if err != nil {
			return nil, err
		}
		w := countersign.TenantSettingsWrite{DecisionAssertion: s.DecisionAssertion, Weakening: now.Weakening, Reason: s.Reason, ExpectedRevision: now.Revision}
		switch by := s.Weakening; {
		case by != nil && *by == 0:
			w.Weakening = nil
		case by != nil:
			w.Weakening = &countersign.Weakening{Approvals: *by, Groups: s.Group}
		}
		return c.SaveSettings(t.Context, w)
	}, printSettings)
}

func printSettings(w io.Writer, s *countersign.TenantSettings) {
	fmt.Fprintf(w, "tenant %s, revision %d\n", s.TenantID, s.Revision)
	printWeakening(w, s)
	if s.DecisionAssertion == countersign.DecisionAssertionPasskey {
		fmt.Fprintln(w, "each approval is signed with a passkey of whoever gives it (decisionAssertion PASSKEY)")
		return
	}
	fmt.Fprintln(w, "approvals need no passkey (decisionAssertion NONE)")
}

func printWeakening(w io.Writer, s *countersign.TenantSettings) {
	switch by := s.Weakening; {
	case by == nil:
		fmt.Fprintln(w, "changes that weaken are made at once (no weakening)")
	case len(by.Groups) > 0:
		fmt.Fprintf(w, "changes that weaken need the approval of %d others, members of %s (weakening)\n", by.Approvals, strings.Join(by.Groups, ", "))
	default:
		fmt.Fprintf(w, "changes that weaken need the approval of %d other administrators (weakening)\n", by.Approvals)
	}
	if b := s.BreakGlass; b != nil {
		fmt.Fprintf(w, "BREAK GLASS: weakening was taken away on the stopped store at %s: %s\n", words.Moment(b.At), words.Doubted(b.Reason))
	}
}
