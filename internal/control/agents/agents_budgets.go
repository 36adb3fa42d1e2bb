package agents

import (
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkAgentBudgets refuses budgets that can't be judged: what they add must be a number
// input of a capability of the agent.
func checkAgentBudgets(tx store.Tx, tenant string, agent *countersign.Agent, budgets []countersign.Budget) error {
	head, _, err := records.Projects.Get(tx, tenant, agent.ProjectID)
	if err != nil {
		return err
	}
	project, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(head.ID, head.Revision))
	if errors.Is(err, store.ErrNotFound) {
		return countersign.Errorf(countersign.CodeNotFound, "there is no project %s", agent.ProjectID)
	}
	if err != nil {
		return err
	}
	problems := budget.Check(budgets, func(input string) bool {
		for _, name := range agent.Capabilities {
			if c := project.Capability(name); c != nil && c.InputSchema[input].IsNumber() {
				return true
			}
		}
		return false
	})
	for i := range problems {
		problems[i].Path = "budgets" + problems[i].Path
	}
	if len(problems) > 0 {
		return countersign.Refusal(countersign.CodeInvalidRequest, problems...)
	}
	return nil
}
