// Package policies plays other approval policies against past runs.
package policies

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/policy"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Commands is the commands on approval policies.
type Commands struct {
	WhatIf WhatIf `cmd:"" name:"what-if" help:"Say what another policy would have asked for, of the runs that there were." example:"policy what-if --set default-shop/refunds.create=NONE --last 1000"`
}

// WhatIf is the command `policy what-if`: it applies proposed rules to past runs.
type WhatIf struct {
	All  string            `enum:",NONE,RISK_BASED,ALWAYS" default:"" help:"A policy for every capability: NONE, RISK_BASED or ALWAYS." placeholder:"POLICY"`
	Set  map[string]string `help:"A policy for one capability, as project/capability=POLICY; may be repeated." placeholder:"NAME=POLICY"`
	Rule map[string]string `name:"rules" help:"Approval rules for one capability in place of those that it has, as project/capability=FILE; the file holds {\"approvalRules\": […]}. May be repeated." placeholder:"NAME=FILE"`

	Budget map[string]string `name:"budgets" help:"Budgets for one capability or agent in place of those that it has, as project/capability=FILE or agent=FILE; the file holds {\"budgets\": […]}. May be repeated." placeholder:"NAME=FILE"`

	Last int `default:"200" help:"How many of the latest runs to look at." placeholder:"200"`
	service.Asking
}

// Help explains how the answer is computed.
func (WhatIf) Help() string {
	return "It changes nothing: it puts the gate's own question to each step that came to the gate, under the policy that you name, with what its plan knew of the capability. Rehearsals count for nothing, and archived runs aren't seen.\n\nBudgets are played in order of time, as if they had been set before the first of these runs: what would be denied isn't sent, uses nothing and ends its run, and a person decides as one did. What nobody was asked for counts as approved. An agent has the budgets that it has now."
}

// Run reads the runs and prints the report.
func (p *WhatIf) Run(t *terminal.Terminal) error {
	if err := p.check(); err != nil {
		return err
	}
	c, err := p.Client(t)
	if err != nil {
		return err
	}
	proposal := policy.Proposal{All: p.All, Named: p.Set, Agents: map[string][]countersign.Budget{}}
	if proposal.Rules, err = p.rules(t, c); err != nil {
		return err
	}
	if proposal.Budgets, err = p.budgets(t, c, proposal.Agents); err != nil {
		return err
	}
	report, err := p.ask(t, c, proposal)
	if err != nil {
		return err
	}
	return p.Print(t, report, func(w io.Writer) { printWhatIf(w, report) })
}

func (p *WhatIf) check() error {
	if p.All == "" && len(p.Set) == 0 && len(p.Rule) == 0 && len(p.Budget) == 0 {
		return terminal.Unusablef("name a policy: --all ALWAYS, --set default-shop/refunds.create=NONE, --rules default-shop/refunds.create=rules.json, or --budgets default-shop/refunds.create=budgets.json")
	}
	if p.Last < 1 {
		return terminal.Unusablef("--last must be at least 1")
	}
	for name, to := range p.Set {
		known := to == countersign.ApprovalNone || to == countersign.ApprovalRiskBased || to == countersign.ApprovalAlways
		if project, capability, ok := strings.Cut(name, "/"); !ok || project == "" || capability == "" || !known {
			return terminal.Unusablef("--set %s=%s: write project/capability=POLICY, where POLICY is NONE, RISK_BASED or ALWAYS", name, to)
		}
	}
	return nil
}

// proposedRules is a file of rules.
type proposedRules struct {
	ApprovalRules []countersign.ApprovalRule `json:"approvalRules" nullable:"false"`
}

// rules reads the proposed rules and validates them against the current capability.
func (p *WhatIf) rules(t *terminal.Terminal, c *client.Client) (map[string][]countersign.ApprovalRule, error) {
	out := map[string][]countersign.ApprovalRule{}
	for name, file := range p.Rule {
		if file == "" {
			return nil, terminal.Unusablef("--rules %s: write project/capability=FILE", name)
		}
		var read proposedRules
		if err := typed.ReadDocument(t, file, &read); err != nil {
			return nil, err
		}
		found, err := capability(t, c, "--rules", name)
		if err != nil {
			return nil, err
		}
		changed := *found
		changed.Approval, changed.ApprovalRules = words.First(p.Set[name], p.All, found.Approval), read.ApprovalRules
		if problems := gate.Check(nil, &changed); len(problems) > 0 {
			return nil, terminal.Unusablef("%s: %s", file, countersign.JoinProblems(problems))
		}
		out[name] = read.ApprovalRules
	}
	return out, nil
}

// capability reads a capability as it is now, which a flag names as project/capability.
func capability(t *terminal.Terminal, c *client.Client, flag, name string) (*countersign.Capability, error) {
	id, of, ok := strings.Cut(name, "/")
	if !ok || id == "" || of == "" {
		return nil, terminal.Unusablef("%s %s: write project/capability=FILE", flag, name)
	}
	project, err := c.Project(t.Context, id)
	if err != nil {
		return nil, err
	}
	found := project.Capability(of)
	if found == nil {
		return nil, terminal.Unusablef("%s %s: project %s has no capability %s", flag, name, id, of)
	}
	return found, nil
}

// proposedBudgets is a file of budgets.
type proposedBudgets struct {
	Budgets []countersign.Budget `json:"budgets" nullable:"false"`
}

// budgets reads the proposed budgets, those of agents into agents, and validates them
// against the capabilities that there are now.
func (p *WhatIf) budgets(t *terminal.Terminal, c *client.Client, agents map[string][]countersign.Budget) (map[string][]countersign.Budget, error) {
	out := map[string][]countersign.Budget{}
	for name, file := range p.Budget {
		if name == "" || file == "" {
			return nil, terminal.Unusablef("--budgets %s: write project/capability=FILE or agent=FILE", name)
		}
		var read proposedBudgets
		if err := typed.ReadDocument(t, file, &read); err != nil {
			return nil, err
		}
		of, into := []string{name}, out
		if !strings.Contains(name, "/") {
			agent, err := c.Agent(t.Context, name)
			if err != nil {
				return nil, err
			}
			of, into = nil, agents
			for _, capability := range agent.Capabilities {
				of = append(of, policy.Name(agent.ProjectID, capability))
			}
		}
		numbers := map[string]bool{}
		for _, name := range of {
			found, err := capability(t, c, "--budgets", name)
			if err != nil {
				return nil, err
			}
			for input, field := range found.InputSchema {
				numbers[input] = numbers[input] || field.IsNumber()
			}
		}
		problems := budget.Check(read.Budgets, func(input string) bool { return numbers[input] })
		for i := range problems {
			problems[i].Path = "budgets" + problems[i].Path
		}
		if len(problems) > 0 {
			return nil, terminal.Unusablef("%s: %s", file, countersign.JoinProblems(problems))
		}
		into[name] = read.Budgets
	}
	return out, nil
}

// knowAgents reads the budgets of a run's agents that aren't known. One that is gone has none.
func knowAgents(t *terminal.Terminal, c *client.Client, r *countersign.Run, agents map[string][]countersign.Budget) error {
	for i := range r.Steps {
		id := r.Steps[i].AgentID
		if _, known := agents[id]; known || id == "" {
			continue
		}
		agent, err := c.Agent(t.Context, id)
		switch {
		case countersign.ErrorCode(err) == countersign.CodeNotFound:
			agents[id] = nil
		case err != nil:
			return err
		default:
			agents[id] = agent.Budgets
		}
	}
	return nil
}

// ask reads the runs, and each of their plans once.
func (p *WhatIf) ask(t *terminal.Terminal, c *client.Client, proposal policy.Proposal) (*policy.Report, error) {
	counts := policy.NewCounts(proposal)
	plans := map[string]*countersign.Plan{}
	bar := terminal.NewBar(t, "reading runs")
	defer bar.Done()
	seen := 0
	for r, err := range c.AllRuns(t.Context, client.RunFilter{Paging: client.Paging{Limit: min(p.Last, countersign.MaxPageLimit)}}) {
		if err != nil {
			return nil, err
		}
		if seen == p.Last {
			break
		}
		seen++
		bar.Set(int64(seen), int64(p.Last))
		if r.Mode != countersign.ModeLive {
			continue
		}
		if plans[r.PlanID] == nil {
			if plans[r.PlanID], err = c.Plan(t.Context, r.PlanID); err != nil {
				return nil, err
			}
		}
		if err := knowAgents(t, c, &r, proposal.Agents); err != nil {
			return nil, err
		}
		counts.Add(&r, plans[r.PlanID])
	}
	report := counts.Report()
	return &report, nil
}

func printWhatIf(w io.Writer, r *policy.Report) {
	terminal.Facts(w, [2]string{"LIVE runs", words.Number(r.Runs)}, [2]string{"steps at the gate", words.Number(r.Steps)}, [2]string{"asked for approval", words.Number(r.Asked)}, [2]string{"would ask", words.Number(r.WouldAsk)}, [2]string{"would deny", words.Number(r.WouldDeny)})
	if len(r.Capabilities) == 0 {
		return
	}
	fmt.Fprintln(w)
	terminal.Table(w, []string{"capability", "policy", "would be", "steps", "asked", "would ask", "would deny", "more", "fewer"}, service.Rows(r.Capabilities, func(q policy.Questions) []string {
		return []string{q.Name, strings.Join(q.Was, ", "), strings.Join(q.Would, ", "), words.Number(q.Steps), words.Number(q.Asked), words.Number(q.WouldAsk), words.Number(q.WouldDeny), words.Number(q.More), words.Number(q.Fewer)}
	}))
	for _, q := range r.Capabilities {
		printRuns(w, q.Name, "rejected by a person, and would have been sent", q.Rejected)
		printRuns(w, q.Name, "decided by nobody in time, and would have been sent", q.Expired)
		printRuns(w, q.Name, "sent, and would have been denied", q.Denied)
		printRuns(w, q.Name, "denied, and would not be", q.Undenied)
		printRuns(w, q.Name, "went wrong, and a person would have seen it first", q.Wrong)
	}
}

// printRuns prints the number of runs and the ids of some.
func printRuns(w io.Writer, name, what string, runs []string) {
	const most = 5
	if len(runs) == 0 {
		return
	}
	some := strings.Join(runs[:min(len(runs), most)], " ")
	if len(runs) > most {
		some += " …"
	}
	fmt.Fprintf(w, "%s: %d %s: %s\n", words.Plain(name), len(runs), what, words.Plain(some))
}
