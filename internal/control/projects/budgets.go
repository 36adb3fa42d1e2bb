package projects

import (
	"cmp"
	"context"
	"reflect"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// BudgetService says what is used of budgets.
type BudgetService struct {
	*core.Core
	projects *ProjectService
	turns    *semaphore.Semaphore
}

// NewBudgets returns the use case.
func NewBudgets(c *core.Core, projects *ProjectService) *BudgetService {
	return &BudgetService{Core: c, projects: projects, turns: semaphore.New(1)}
}

// budgeted is what has budgets: a capability or an agent.
type budgeted struct {
	of            countersign.BudgetUse // without use
	spent         string
	budgets, seen []countersign.Budget // as they are, and as the reader sees them
}

// Budgets says what is used at this moment of the budgets of a project's capabilities, or of an
// agent. Of one that adds what the reader may not see it says nothing.
func (s *BudgetService) Budgets(ctx context.Context, a core.Actor, projectID, agentID string) (out countersign.BudgetUses, err error) {
	if (projectID == "") == (agentID == "") {
		return out, countersign.Invalid("projectId", "give either projectId or agentId")
	}
	var all []budgeted
	err = s.View(ctx, a, access.ReadBudgets, func(tx store.Tx) (err error) {
		all, err = s.budgeted(tx, a, projectID, agentID)
		return err
	})
	out.Items = []countersign.BudgetUse{}
	for i := 0; i < len(all) && err == nil; i++ { // each is a read of its own
		var items []countersign.BudgetUse
		busy := s.turns.Do(ctx, a.Tenant, func() {
			err = s.View(ctx, a, access.ReadBudgets, func(tx store.Tx) (err error) {
				items, err = s.uses(tx, a.Tenant, all[i])
				return err
			})
		})
		err = cmp.Or(core.PublicRead(busy), err)
		out.Items = append(out.Items, items...)
	}
	return out, err
}

// uses are what is used of the budgets of one capability or agent.
func (s *BudgetService) uses(tx store.Tx, tenant string, of budgeted) (items []countersign.BudgetUse, err error) {
	used, err := s.Repo.BudgetsUsed(tx, tenant, of.spent, of.budgets)
	known := map[string]bool{}
	for i := 0; i < len(used) && err == nil; i++ {
		var item countersign.BudgetUse
		item, err = shownUse(tx, tenant, of, i, used[i], known)
		items = append(items, item)
	}
	return items, err
}

func shownUse(tx store.Tx, tenant string, b budgeted, i int, used runrepo.BudgetUsed, known map[string]bool) (countersign.BudgetUse, error) {
	item := b.of
	item.Budget = b.seen[i]
	if !reflect.DeepEqual(b.seen[i], b.budgets[i]) {
		return item, nil // it adds what is hidden
	}
	open, err := used.MayHaveHappened(tx, tenant, known)
	item.Used, item.MayHaveHappened, item.FreeAt = used.Amount(), open, used.FreeAt
	return item, err
}

// budgeted are the capabilities of a project, or the agent.
func (s *BudgetService) budgeted(tx store.Tx, a core.Actor, projectID, agentID string) (out []budgeted, err error) {
	if agentID != "" {
		head, _, err := reach.Agent(tx, a, agentID)
		if err != nil {
			return nil, err
		}
		agent, err := reach.AgentOf(tx, a.Tenant, head)
		if err != nil {
			return nil, err
		}
		shown := agent
		if err := core.MaskAgentFor(tx, a, &shown); err != nil {
			return nil, err
		}
		return []budgeted{{countersign.BudgetUse{AgentID: agentID}, records.SpendingOfAgent(agentID), head.Budgets, shown.Budgets}}, nil
	}
	head, _, err := reach.Project(tx, a, projectID)
	if err != nil {
		return nil, err
	}
	p, err := reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head)
	if err != nil {
		return nil, err
	}
	shown, err := s.projects.projectFor(tx, a, head)
	if err != nil {
		return nil, err
	}
	for i, c := range p.Capabilities {
		out = append(out, budgeted{countersign.BudgetUse{Capability: c.Name}, records.SpendingOfCapability(projectID, c.Name), c.Budgets, shown.Capabilities[i].Budgets})
	}
	return out, nil
}
