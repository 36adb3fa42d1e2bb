package agents

import (
	"html/template"
	"maps"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/server/graph"
)

// The page of one team: its members, whether it may run, and its steps as a graph and
// as text.

type teamData struct {
	countersign.Team
	Members                []teamMember // members and steps of the current page
	Steps                  []teamStep
	MemberPages, StepPages web.Pager
	Drawn                  template.HTML
	Poll                   string
	Call                   text.StatusNotice
	Reason                 form.Field
	Problem                *web.Problem
}

type teamMember struct {
	countersign.TeamMember
	Agent countersign.Agent
	Steps int
}

type teamStep struct {
	countersign.TeamStep
	N      int
	Agent  countersign.Agent
	Known  *countersign.Capability // nil: the agent's project no longer has it
	Inputs []steps.TeamInput
}

func teamPage(v *web.Request) (*web.Page, error) { return teamAgain(v, nil) }

func teamAgain(v *web.Request, err error) (*web.Page, error) {
	t, unread := v.Control.Team(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	agents, unread := agentsOf(v, t)
	if unread != nil {
		return nil, unread
	}
	capabilities, unread := capabilitiesOf(v, agents)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := teamData{Team: t, Members: membersOf(t, agents), Steps: teamSteps(t, agents, capabilities), Reason: form.Must(s.Line("reason", "Why", "", ""))}
	d.Call = teamCallOf(t, d.Members, v.Can(access.ResumeTeam), v.Can(access.StartTeamRun))
	d.Drawn = drawTeam(v, t, d.Steps)
	d.show(v)
	d.Problem = s.Problem()
	return &web.Page{Name: "team", Title: t.Name, Nav: "teams", Crumbs: teamCrumbs(t), Data: d}, nil
}

// show keeps the members and steps of the current page.
func (d *teamData) show(v *web.Request) {
	from, to, pages := v.Part("members", len(d.Members))
	d.Members, d.MemberPages = d.Members[from:to], pages
	from, to, d.StepPages = v.Part("offset", len(d.Steps))
	d.Steps = d.Steps[from:to]
	shown := make([]countersign.Agent, len(d.Members))
	for i, m := range d.Members {
		shown[i] = countersign.Agent{ID: m.AgentID}
	}
	d.Poll = pollOf(shown)
}

func agentsOf(v *web.Request, t countersign.Team) (map[string]countersign.Agent, error) {
	ids := make([]string, len(t.Members))
	for i, m := range t.Members {
		ids[i] = m.AgentID
	}
	list, err := v.Control.AgentsNamed(v.R.Context(), v.Actor, ids)
	out := map[string]countersign.Agent{}
	for _, a := range list {
		out[a.ID] = a
	}
	return out, err
}

// capabilitiesOf are the agents' projects by ID.
func capabilitiesOf(v *web.Request, agents map[string]countersign.Agent) (map[string]countersign.Project, error) {
	out := map[string]countersign.Project{}
	for _, a := range agents {
		if _, known := out[a.ProjectID]; known {
			continue
		}
		p, err := v.Control.Project(v.R.Context(), v.Actor, a.ProjectID)
		if err != nil {
			return nil, err
		}
		out[p.ID] = p
	}
	return out, nil
}

func membersOf(t countersign.Team, agents map[string]countersign.Agent) []teamMember {
	out := make([]teamMember, len(t.Members))
	for i, m := range t.Members {
		out[i] = teamMember{TeamMember: m, Agent: agents[m.AgentID]}
		for _, s := range t.Steps {
			if s.AgentID == m.AgentID {
				out[i].Steps++
			}
		}
	}
	return out
}

func teamSteps(t countersign.Team, agents map[string]countersign.Agent, projects map[string]countersign.Project) []teamStep {
	out := make([]teamStep, len(t.Steps))
	for i, s := range t.Steps {
		a := agents[s.AgentID]
		out[i] = teamStep{TeamStep: s, N: i + 1, Agent: a}
		if p, known := projects[a.ProjectID]; known {
			out[i].Known = p.Capability(s.Capability)
		}
		out[i].Inputs = inputsOfStep(s, a)
	}
	return out
}

// inputsOfStep lists literal, bound and fixed inputs, each sorted by name.
func inputsOfStep(s countersign.TeamStep, a countersign.Agent) []steps.TeamInput {
	var out []steps.TeamInput
	for _, name := range slices.Sorted(maps.Keys(s.Input)) {
		out = append(out, steps.TeamInput{Name: name, Value: text.Inline(s.Input[name])})
	}
	for _, name := range slices.Sorted(maps.Keys(s.InputBindings)) {
		b := s.InputBindings[name]
		out = append(out, steps.TeamInput{Name: name, From: "from " + b.StepID + "." + b.Field})
	}
	return append(out, steps.FixedInputs(a.ExecutorInputs[s.Capability])...)
}

func teamCallOf(t countersign.Team, members []teamMember, mayResume, mayStart bool) text.StatusNotice {
	if t.Retired {
		return text.RetiredNotice("team")
	}
	if t.Suspended {
		c := text.StatusNotice{Class: "call--wait", Icon: "s-cancelled", Resume: mayResume, Sentence: "This team is suspended: no run of it starts.", Detail: "Resuming lets new runs start. Those made before the suspension never take a further step."}
		if !mayResume {
			c.Detail = "An admin resumes it."
		}
		return c
	}
	out, first := 0, ""
	for _, m := range members {
		if m.Agent.Status != countersign.AgentAdmitted || m.Agent.Suspended || m.Agent.Retired {
			out++
			if first == "" {
				first = m.AgentID
			}
		}
	}
	if out > 0 {
		return text.StatusNotice{Class: "call--wait", Icon: "s-waiting", See: first, Sentence: "This team can’t run: " + strconv.Itoa(out) + " of its " + text.Plural(len(members), "member", "members") + " " + isAre(out) + " not admitted.", Detail: "An admin admits agents."}
	}
	return text.StatusNotice{Class: "call--ok", Icon: "s-completed", Start: mayStart, Sentence: "This team may be run.", Detail: "All its members are admitted. Each step asks for the approval that its capability asks for."}
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// drawTeam draws the steps with their agents and bindings.
func drawTeam(v *web.Request, t countersign.Team, steps []teamStep) template.HTML {
	g := graph.Graph{ID: "team", Title: "Steps of " + t.Name, Description: text.Plural(len(steps), "step", "steps") + ". The table beneath says the same."}
	for _, s := range steps {
		n := graph.Node{ID: s.ID, Title: s.Name, Sub: s.Agent.Name, Href: web.PartAt(v, "offset", (s.N-1)/web.PageSize*web.PageSize) + "#step-" + s.ID}
		if s.Known != nil {
			n.Sub = s.Known.Method + " · " + s.Agent.Name
			if s.Known.NeedsApproval() {
				n.Icon, n.Word = "i-approvals", "Asks for approval"
			}
		}
		g.Nodes = append(g.Nodes, n)
		g.Edges = append(g.Edges, edgesOf(s.TeamStep)...)
	}
	return graph.Plan(g)
}

// edgesOf are the edges from a step's dependencies, labeled with the bound inputs.
func edgesOf(s countersign.TeamStep) []graph.Edge {
	bound := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.InputBindings)) {
		from := s.InputBindings[name].StepID
		bound[from] = append(bound[from], name)
	}
	var out []graph.Edge
	for _, from := range s.DependsOn {
		out = append(out, graph.Edge{From: from, To: s.ID, Label: bound[from], Mono: true})
	}
	return out
}

func suspendTeam(v *web.Request) (string, error) {
	return moveTeam(v, web.Moving(v.Control.SuspendTeam))
}

func resumeTeam(v *web.Request) (string, error) { return moveTeam(v, web.Moving(v.Control.ResumeTeam)) }

func moveTeam(v *web.Request, change web.Move) (string, error) {
	id := v.R.PathValue("id")
	return v.WithReason("/teams/"+id, teamAgain, func(reason string) error { return change(v.R.Context(), v.Actor, id, reason) })
}
