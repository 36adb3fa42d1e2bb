package budgets

import (
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Show is the command `budgets`.
type Show struct {
	Project string `help:"Of this project's capabilities." placeholder:"ID" xor:"of" required:""`
	Agent   string `help:"Of this agent." placeholder:"ID" xor:"of" required:""`
	service.Asking
}

// Run prints what is used.
func (b *Show) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, b.Asking, func(c *client.Client) (*countersign.BudgetUses, error) {
		if b.Agent != "" {
			return c.AgentBudgets(t.Context, b.Agent)
		}
		return c.ProjectBudgets(t.Context, b.Project)
	}, printBudgets)
}

func printBudgets(w io.Writer, uses *countersign.BudgetUses) {
	rows := [][]string{}
	for _, u := range uses.Items {
		bound := words.Number(int(u.Budget.Count)) + " steps"
		if u.Budget.Sum != "" {
			bound = words.Plain(u.Budget.Sum) + " " + words.Plain(u.Budget.Most.Raw())
		}
		rows = append(rows, []string{u.Capability + u.AgentID, bound, u.Budget.Window, u.Budget.Then, words.Plain(u.Used.Raw()), words.Plain(u.MayHaveHappened.Raw()), words.Moment(u.FreeAt), words.Plain(u.Budget.Reason)})
	}
	terminal.Table(w, []string{"of", "at most", "within", "beyond it", "used", "may have happened", "free at", "reason"}, rows)
}
