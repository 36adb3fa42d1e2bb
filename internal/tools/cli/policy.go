package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/policy"
)

// Policy is the commands on approval policies.
type Policy struct {
	WhatIf PolicyWhatIf `cmd:"" name:"what-if" help:"Say what another policy would have asked for, of the runs that there were." example:"policy what-if --set default-shop/refunds.create=NONE --last 1000"`
}

// PolicyWhatIf is the command `policy what-if`: it applies proposed rules to past runs.
type PolicyWhatIf struct {
	All  string            `enum:",NONE,RISK_BASED,ALWAYS" default:"" help:"A policy for every capability: NONE, RISK_BASED or ALWAYS." placeholder:"POLICY"`
	Set  map[string]string `help:"A policy for one capability, as project/capability=POLICY; may be repeated." placeholder:"NAME=POLICY"`
	Rule map[string]string `name:"rules" help:"Approval rules for one capability in place of those that it has, as project/capability=FILE; the file holds {\"approvalRules\": […]}. May be repeated." placeholder:"NAME=FILE"`
	Last int               `default:"200" help:"How many of the latest runs to look at." placeholder:"200"`
	Asking
}

// Help explains how the answer is computed.
func (PolicyWhatIf) Help() string {
	return "It changes nothing and guesses nothing: it puts the gate's own question to each step that came to the gate, under the policy that you name, with what its plan knew of the capability. Rehearsals count for nothing, and archived runs aren't seen."
}

// Run reads the runs and prints the report.
func (p *PolicyWhatIf) Run(t *Terminal) error {
	if err := p.check(); err != nil {
		return err
	}
	c, err := p.Client(t)
	if err != nil {
		return err
	}
	rules, err := p.rules(t, c)
	if err != nil {
		return err
	}
	report, err := p.ask(t, c, rules)
	if err != nil {
		return err
	}
	return p.Print(t, report, func(w io.Writer) { printWhatIf(w, report) })
}

func (p *PolicyWhatIf) check() error {
	if p.All == "" && len(p.Set) == 0 && len(p.Rule) == 0 {
		return Unusablef("name a policy: --all ALWAYS, --set default-shop/refunds.create=NONE, or --rules default-shop/refunds.create=rules.json")
	}
	if p.Last < 1 {
		return Unusablef("--last must be at least 1")
	}
	for name, to := range p.Set {
		known := to == countersign.ApprovalNone || to == countersign.ApprovalRiskBased || to == countersign.ApprovalAlways
		if project, capability, ok := strings.Cut(name, "/"); !ok || project == "" || capability == "" || !known {
			return Unusablef("--set %s=%s: write project/capability=POLICY, where POLICY is NONE, RISK_BASED or ALWAYS", name, to)
		}
	}
	return nil
}

// proposedRules is a file of rules.
type proposedRules struct {
	ApprovalRules []countersign.ApprovalRule `json:"approvalRules" nullable:"false"`
}

// rules reads the proposed rules and validates them against the current capability.
func (p *PolicyWhatIf) rules(t *Terminal, c *client.Client) (map[string][]countersign.ApprovalRule, error) {
	out := map[string][]countersign.ApprovalRule{}
	for name, file := range p.Rule {
		id, capability, ok := strings.Cut(name, "/")
		if !ok || id == "" || capability == "" || file == "" {
			return nil, Unusablef("--rules %s=%s: write project/capability=FILE", name, file)
		}
		var read proposedRules
		if err := readDocument(t, file, &read); err != nil {
			return nil, err
		}
		project, err := c.Project(t.Context, id)
		if err != nil {
			return nil, err
		}
		found := project.Capability(capability)
		if found == nil {
			return nil, Unusablef("--rules %s: project %s has no capability %s", name, id, capability)
		}
		changed := *found
		changed.Approval, changed.ApprovalRules = first(p.Set[name], p.All, found.Approval), read.ApprovalRules
		if problems := gate.Check(&changed); len(problems) > 0 {
			return nil, Unusablef("%s: %s", file, countersign.JoinProblems(problems))
		}
		out[name] = read.ApprovalRules
	}
	return out, nil
}

// ask reads the runs, and each of their plans once.
func (p *PolicyWhatIf) ask(t *Terminal, c *client.Client, rules map[string][]countersign.ApprovalRule) (*policy.Report, error) {
	tally := policy.NewTally(policy.Proposal{All: p.All, Named: p.Set, Rules: rules})
	plans := map[string]*countersign.Plan{}
	bar := NewBar(t, "reading runs")
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
		if plans[r.PlanID] == nil && r.Mode == countersign.ModeLive {
			if plans[r.PlanID], err = c.Plan(t.Context, r.PlanID); err != nil {
				return nil, err
			}
		}
		tally.Add(&r, plans[r.PlanID])
	}
	report := tally.Report()
	return &report, nil
}

func printWhatIf(w io.Writer, r *policy.Report) {
	Facts(w, [2]string{"LIVE runs", number(r.Runs)}, [2]string{"steps at the gate", number(r.Steps)}, [2]string{"asked for approval", number(r.Asked)}, [2]string{"would ask", number(r.WouldAsk)}, [2]string{"would deny", number(r.WouldDeny)})
	if len(r.Capabilities) == 0 {
		return
	}
	fmt.Fprintln(w)
	Table(w, []string{"capability", "policy", "would be", "steps", "asked", "would ask", "would deny", "more", "fewer"}, rows(r.Capabilities, func(q policy.Questions) []string {
		return []string{q.Name, strings.Join(q.Was, ", "), strings.Join(q.Would, ", "), number(q.Steps), number(q.Asked), number(q.WouldAsk), number(q.WouldDeny), number(q.More), number(q.Fewer)}
	}))
	for _, q := range r.Capabilities {
		printRuns(w, q.Name, "rejected by a person, and would have been sent", q.Rejected)
		printRuns(w, q.Name, "decided by nobody in time, and would have been sent", q.Lapsed)
		printRuns(w, q.Name, "sent, and would have been denied", q.Denied)
		printRuns(w, q.Name, "denied by a rule, and would not be", q.Undenied)
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
	fmt.Fprintf(w, "%s: %d %s: %s\n", Plain(name), len(runs), what, Plain(some))
}
