package cli

import (
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// Budgets is the command `budgets`.
type Budgets struct {
	Project string `help:"Of this project's capabilities." placeholder:"ID" xor:"of" required:""`
	Agent   string `help:"Of this agent." placeholder:"ID" xor:"of" required:""`
	Asking
}

// Run prints what is used.
func (x *Budgets) Run(t *Terminal) error {
	return show(t, x.Asking, func(c *client.Client) (*countersign.BudgetUses, error) {
		if x.Agent != "" {
			return c.AgentBudgets(t.Context, x.Agent)
		}
		return c.ProjectBudgets(t.Context, x.Project)
	}, printBudgets)
}

func printBudgets(w io.Writer, uses *countersign.BudgetUses) {
	rows := [][]string{}
	for _, u := range uses.Items {
		bound := number(int(u.Budget.Count)) + " steps"
		if u.Budget.Sum != "" {
			bound = Plain(u.Budget.Sum) + " " + Plain(u.Budget.Most.Raw())
		}
		rows = append(rows, []string{u.Capability + u.AgentID, bound, u.Budget.Window, u.Budget.Then, Plain(u.Used.Raw()), Plain(u.MayHaveHappened.Raw()), moment(u.FreeAt), Plain(u.Budget.Reason)})
	}
	Table(w, []string{"of", "at most", "within", "beyond it", "used", "may have happened", "free at", "reason"}, rows)
}
