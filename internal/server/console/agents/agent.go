package agents

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The page of one agent: whether it may run, its contract, and its instances.

type agentData struct {
	countersign.AgentWithInstances
	Project      string // its name, "" where it can't be read
	Capabilities []agentCapability
	Call         text.StatusNotice
	Reason       form.Field
	Limits       rules.BudgetForm
	ByProvider   identitiesData
	Record       record
	Meters       []rules.Meter
	Heard        []countersign.Instance // the latest to send a heartbeat, sorted by ID
	Problem      *web.Problem
}

// agentCapability is a capability that an agent may use, with the inputs that its
// manifest fixes.
type agentCapability struct {
	Name   string
	Known  *countersign.Capability // nil: the project no longer has it
	Fixed  []fixedInput
	CanRun bool
}

type fixedInput struct {
	Name  string
	Value countersign.Value
}

// shownInstances is how many instances a page shows.
const shownInstances = 50

func agentPage(v *web.Request) (*web.Page, error) { return agentAgain(v, nil) }

func agentAgain(v *web.Request, err error) (*web.Page, error) {
	a, unread := v.Control.Agent(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	p, unread := v.Control.Project(v.R.Context(), v.Actor, a.ProjectID)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := agentData{AgentWithInstances: a, Project: p.Name, Call: agentCallOf(a.AgentRecord, v.Can(access.AdmitAgent)), Reason: form.Must(s.Line("reason", "Why", "", ""))}
	d.Limits, d.ByProvider = rules.BudgetsOf(s, a.Budgets), identitiesOf(v, a.AgentRecord, err)
	d.Heard, d.Capabilities = heardLast(a.Instances), agentCapabilities(a.AgentRecord, p, v.Can(access.StartAgentRun))
	d.Problem = s.Problem()
	if d.Record, unread = recordOf(v, a.ID); unread != nil {
		return nil, unread
	}
	if len(a.Budgets) > 0 {
		used, unread := v.Control.Budgets(v.R.Context(), v.Actor, "", a.ID)
		if unread != nil {
			return nil, unread
		}
		d.Meters = rules.MetersOf(used.Items)
	}
	return &web.Page{Name: "agent", Title: a.Name, Nav: "agents", Crumbs: []web.Crumb{{Word: "Agents", Href: "/agents"}, {Word: a.Name}}, Data: d}, nil
}

// heardLast returns the instances that a page shows, sorted by ID so that rows don't
// move when a heartbeat arrives.
func heardLast(all []countersign.Instance) []countersign.Instance {
	last := slices.Clone(all[:min(len(all), shownInstances)])
	slices.SortFunc(last, func(a, b countersign.Instance) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	return last
}

func agentCapabilities(a countersign.Agent, p countersign.Project, may bool) []agentCapability {
	out := make([]agentCapability, 0, len(a.Capabilities))
	for _, name := range a.Capabilities {
		c := agentCapability{Name: name, Known: p.Capability(name)}
		for _, field := range slices.Sorted(maps.Keys(a.ExecutorInputs[name])) {
			c.Fixed = append(c.Fixed, fixedInput{field, a.ExecutorInputs[name][field]})
		}
		c.CanRun = may && c.Known != nil && runnable(a)
		out = append(out, c)
	}
	return out
}

// runnable reports whether runs of the agent may be started.
func runnable(a countersign.Agent) bool {
	return a.Status == countersign.AgentAdmitted && !a.Suspended && !a.Retired
}

func agentCallOf(a countersign.Agent, may bool) text.StatusNotice {
	switch {
	case a.Retired:
		return text.RetiredNotice("agent")
	case a.Suspended:
		c := text.StatusNotice{Class: "call--wait", Icon: "s-cancelled", Admit: may, Sentence: "This agent is suspended: it can’t run.", Detail: "Runs made with it before take no further step, now or later. Admitting ends the suspension for new ones."}
		if !may {
			c.Detail = "An admin admits it again."
		}
		return c
	case a.Status != countersign.AgentAdmitted:
		c := text.StatusNotice{Class: "call--wait", Icon: "s-waiting", Admit: may, Sentence: "This agent can’t run until you admit it.", Detail: "Read its contract below. Once admitted, it may be run with these capabilities, with the approvals that each asks for."}
		if !may {
			c.Sentence, c.Detail = "This agent can’t run until an admin admits it.", "Being registered lets no agent run."
		}
		return c
	}
	return text.StatusNotice{Class: "call--ok", Icon: "s-completed", Sentence: "This agent may be run.", Detail: "A change of its manifest makes it wait for an admin again."}
}

// admitAgent admits with the budgets that the form has: all of them, since it shows those
// that the agent has.
func admitAgent(v *web.Request) (string, error) {
	budgets, wrong := rules.TypedBudgets(v)
	if budgets == nil {
		budgets = []countersign.Budget{}
	}
	return moveAgent(v, func(ctx context.Context, a control.Actor, id string, d countersign.Admission) (countersign.Agent, error) {
		if wrong != nil {
			return countersign.Agent{}, wrong
		}
		if rules.ShowsBudgets(v) {
			d.Budgets = budgets
		}
		return v.Control.AdmitAgent(ctx, a, id, d)
	})
}

func suspendAgent(v *web.Request) (string, error) { return moveAgent(v, v.Control.SuspendAgent) }

// moveAgent admits or suspends the revision that the form showed, not one that a sync
// has stored since.
func moveAgent(v *web.Request, move admission) (string, error) {
	id, revision := v.R.PathValue("id"), v.FormRevision()
	return v.WithReason("/agents/"+id, agentAgain, func(reason string) error {
		_, err := move(v.R.Context(), v.Actor, id, countersign.Admission{Reason: reason, ExpectedRevision: &revision})
		return err
	})
}

// instancesOfAgent writes the table of instances, which the page polls.
func instancesOfAgent(v *web.Request) error {
	a, err := v.Control.Agent(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if err != nil {
		return err
	}
	return v.Fragment(&web.Page{Name: "agent", Data: agentData{AgentWithInstances: a, Heard: heardLast(a.Instances)}}, "instances")
}

// admission is admitting or suspending an agent.
type admission func(context.Context, control.Actor, string, countersign.Admission) (countersign.Agent, error)
