// Package upgrade names what a release means otherwise than the one before, of what is stored:
// what asks more than before, and what would be refused if it were sent back. What is stored
// goes on as it is until it is edited. doctor, the log at the first start and the page of a
// project show the same notices. It is pure.
package upgrade

import (
	"fmt"

	"github.com/countersign/countersign"
)

// Notice is one thing that somebody should know after an upgrade.
type Notice struct {
	Kind  string // "project" or "team"
	ID    string
	Where string // the path in its document
	Text  string // what is otherwise, and what to do
}

func (n Notice) String() string { return n.Kind + " " + n.ID + ", " + n.Where + ": " + n.Text }

// What is looked for in a project, and in a team: a file each.
var (
	ofProject = []func(*countersign.Project) []Notice{asksMore, headers}
	ofTeam    = []func(*countersign.Team) []Notice{incomplete}
)

// OfProject lists the notices about a project.
func OfProject(p *countersign.Project) (out []Notice) {
	for _, look := range ofProject {
		out = append(out, look(p)...)
	}
	return out
}

// OfTeam lists the notices about a team.
func OfTeam(t *countersign.Team) (out []Notice) {
	for _, look := range ofTeam {
		out = append(out, look(t)...)
	}
	return out
}

// asksMore: beside rules RISK_BASED asks for every side effect that none of them names, in
// plans that are made from now on.
func asksMore(p *countersign.Project) (out []Notice) {
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		if c.NeedsApproval() && !c.NeedsApprovalBy(0) {
			out = append(out, Notice{Kind: "project", ID: p.ID, Where: fmt.Sprintf("capabilities[%d].approval", i),
				Text: c.Name + " now asks for what none of its approval rules names: it was let out before, since it is declared idempotent. Let a rule ALLOW what is to go out unasked"})
		}
	}
	return out
}
