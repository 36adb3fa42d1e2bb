package cli

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// Settings are the commands `settings …`, about the tenant.
type Settings struct {
	Get SettingsGet `cmd:"" help:"Show them." example:"settings get"`
	Set SettingsSet `cmd:"" help:"Change them (ADMIN)." example:"settings set --decision-assertion PASSKEY --reason 'policy 7.2'"`
}

// SettingsGet is the command `settings get`.
type SettingsGet struct{ Asking }

// Run asks.
func (s *SettingsGet) Run(t *Terminal) error {
	return show(t, s.Asking, func(c *client.Client) (*countersign.TenantSettings, error) { return c.Settings(t.Context) }, printSettings)
}

// SettingsSet is the command `settings set`.
type SettingsSet struct {
	DecisionAssertion string `required:"" enum:"NONE,PASSKEY" help:"PASSKEY: each approval is signed with a passkey of whoever gives it, on its page in the console." placeholder:"NONE|PASSKEY"`
	Reason            string `required:"" help:"Why; kept in the audit log." placeholder:"TEXT"`
	Asking
}

// Run changes them from the revision that they have now.
func (s *SettingsSet) Run(t *Terminal) error {
	return show(t, s.Asking, func(c *client.Client) (*countersign.TenantSettings, error) {
		now, err := c.Settings(t.Context)
		if err != nil {
			return nil, err
		}
		return c.SaveSettings(t.Context, countersign.TenantSettingsWrite{DecisionAssertion: s.DecisionAssertion, Reason: s.Reason, ExpectedRevision: now.Revision})
	}, printSettings)
}

func printSettings(w io.Writer, s *countersign.TenantSettings) {
	fmt.Fprintf(w, "tenant %s, revision %d\n", s.TenantID, s.Revision)
	if s.DecisionAssertion == countersign.DecisionAssertionPasskey {
		fmt.Fprintln(w, "each approval is signed with a passkey of whoever gives it (decisionAssertion PASSKEY)")
		return
	}
	fmt.Fprintln(w, "approvals need no passkey (decisionAssertion NONE)")
}
