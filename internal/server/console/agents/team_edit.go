package agents

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Forms that create and edit a team as JSON.

const teamConsequence = "Saving makes a new revision: plans and runs made of the one before take no further step."

func newTeamPage(v *web.Request) (*web.Page, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return nil, err
	}
	return newTeam(v, nil)
}

func newTeam(v *web.Request, err error) (*web.Page, error) {
	first, unread := firstTeam(v)
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := form.Document{
		Kind: "team", New: true, Back: "/teams", To: "/teams/+new",
		Key:         form.Must(s.Mono("id", "Id", "Letters, digits, dots, underscores and hyphens. It never changes.", "")),
		Text:        form.Must(s.Document("document", "Team", "At least two different admitted agents with models, and the steps that they share.", first, 24)),
		Consequence: "It can run right away, started by any operator who may see its members’ projects.", Problem: s.Problem(), Example: exampleTeam,
	}
	return d.Page("teams", []web.Crumb{{Word: "Teams", Href: "/teams"}, {Word: "New"}}), nil
}

// firstTeam is the initial text of a new team, with agents that could be its members.
func firstTeam(v *web.Request) (string, error) {
	list, err := v.Control.Agents(v.R.Context(), v.Actor, control.List{Limit: 200}, control.AgentFilter{Status: string(countersign.AgentAdmitted)})
	if err != nil {
		return "", err
	}
	w := countersign.TeamWrite{Members: []countersign.TeamMember{}, Steps: []countersign.TeamStep{}}
	for _, a := range list.Items {
		if a.ModelID != "" && len(w.Members) < countersign.MinTeamMembers {
			w.Members = append(w.Members, countersign.TeamMember{AgentID: a.ID, Role: a.Role})
		}
	}
	return text.Pretty(w), nil
}

// exampleTeam shows a binding: an input from the verified output of an earlier step.
const exampleTeam = `{
  "name": "Returns desk",
  "members": [
    {"agentId": "agent-…", "role": "reads the order"},
    {"agentId": "agent-…", "role": "pays it back"}
  ],
  "steps": [
    {
      "id": "read-order", "name": "Read the order", "agentId": "agent-…", "capability": "orders.read",
      "input": {"orderId": "A-48213"},
      "expectation": {"field": "status", "equals": "returned"}
    },
    {
      "id": "refund", "name": "Refund it", "agentId": "agent-…", "capability": "refunds.create",
      "dependsOn": ["read-order"],
      "input": {"orderId": "A-48213"},
      "inputBindings": {"amount": {"stepId": "read-order", "field": "total"}},
      "expectation": {"field": "status", "equals": "succeeded"}
    }
  ]
}`

func createTeam(v *web.Request) (string, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return "", err
	}
	id := v.Form("id")
	var w countersign.TeamWrite
	err := v.NewID()
	if err == nil {
		err = exactjson.Decode([]byte(v.Form("document")), &w)
	}
	if err == nil {
		w.ExpectedRevision = 0
		_, err = v.Control.PutTeam(v.R.Context(), v.Actor, id, w)
	}
	err = web.Taken(err, "team", id)
	if err == nil {
		return "/teams/" + id, nil
	}
	return "", v.FormAgain(err, newTeam)
}

func teamDocumentPage(v *web.Request) (*web.Page, error) { return teamDocument(v, nil) }

func teamDocument(v *web.Request, err error) (*web.Page, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return nil, err
	}
	t, unread := v.Control.Team(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, nil, "")
	stored := text.Pretty(countersign.TeamWrite{Name: t.Name, Members: t.Members, Steps: t.Steps})
	d := form.Document{
		Kind: "team", ID: t.ID, Name: t.Name, Back: "/teams/" + t.ID, To: "/teams/" + t.ID + "/document", Revision: t.Revision,
		Text:        form.Must(s.Document("document", "Team", "The body of PUT /teams/"+t.ID+". Ids, revisions and times in it are ignored.", stored, 24)),
		Consequence: teamConsequence, Problem: web.ProblemOf(err), Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
	}
	if d.Over {
		d.Stored = stored
	}
	return d.Page("teams", teamCrumbs(t, web.Crumb{Word: "As JSON"})), nil
}

func saveTeam(v *web.Request) (string, error) {
	if err := v.May(access.WriteTeam); err != nil {
		return "", err
	}
	id := v.R.PathValue("id")
	var w countersign.TeamWrite
	err := exactjson.Decode([]byte(v.Form("document")), &w)
	if err == nil {
		w.ExpectedRevision = v.FormRevision()
		_, err = v.Control.PutTeam(v.R.Context(), v.Actor, id, w)
	}
	if err == nil {
		return "/teams/" + id, nil
	}
	return "", v.FormAgain(err, teamDocument)
}
