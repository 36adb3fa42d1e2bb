package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Forms that create and edit a team as JSON.

const teamConsequence = "Saving makes a new revision: plans and runs made of the one before take no further step."

func newTeamPage(v *pageRequest) (*page, error) {
	if err := v.may(access.WriteTeam); err != nil {
		return nil, err
	}
	return newTeam(v, nil)
}

func newTeam(v *pageRequest, err error) (*page, error) {
	first, unread := firstTeam(v)
	if unread != nil {
		return nil, unread
	}
	s := formOf(v, err, "")
	d := documentData{
		Kind: "team", New: true, Back: "/teams", To: "/teams/+new",
		Key:         must(s.mono("id", "Id", "Letters, digits, dots, underscores and hyphens. It never changes.", "")),
		Text:        must(s.document("document", "Team", "At least two different admitted agents with models, and the steps that they share.", first, 24)),
		Consequence: "It can run right away, started by any operator who may see its members’ projects.", Problem: s.problem(), Example: exampleTeam,
	}
	return d.page("teams", []crumb{{Word: "Teams", Href: "/teams"}, {Word: "New"}}), nil
}

// firstTeam is the initial text of a new team, with agents that could be its members.
func firstTeam(v *pageRequest) (string, error) {
	list, err := v.control.Agents(v.r.Context(), v.actor, control.List{Limit: 200}, control.AgentFilter{Status: string(countersign.AgentAdmitted)})
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

func createTeam(v *pageRequest) (string, error) {
	if err := v.may(access.WriteTeam); err != nil {
		return "", err
	}
	id := v.form("id")
	var w countersign.TeamWrite
	err := v.newID()
	if err == nil {
		err = exactjson.Decode([]byte(v.form("document")), &w)
	}
	if err == nil {
		w.ExpectedRevision = 0
		_, err = v.control.PutTeam(v.r.Context(), v.actor, id, w)
	}
	err = taken(err, "team", id)
	if err == nil {
		return "/teams/" + id, nil
	}
	return "", v.formAgain(err, newTeam)
}

func teamDocumentPage(v *pageRequest) (*page, error) { return teamDocument(v, nil) }

func teamDocument(v *pageRequest, err error) (*page, error) {
	if err := v.may(access.WriteTeam); err != nil {
		return nil, err
	}
	t, unread := v.control.Team(v.r.Context(), v.actor, v.r.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	s := formOf(v, nil, "")
	stored := text.Pretty(countersign.TeamWrite{Name: t.Name, Members: t.Members, Steps: t.Steps})
	d := documentData{
		Kind: "team", ID: t.ID, Name: t.Name, Back: "/teams/" + t.ID, To: "/teams/" + t.ID + "/document", Revision: t.Revision,
		Text:        must(s.document("document", "Team", "The body of PUT /teams/"+t.ID+". Ids, revisions and times in it are ignored.", stored, 24)),
		Consequence: teamConsequence, Problem: problemOf(err), Over: countersign.ErrorCode(err) == countersign.CodeRevisionConflict,
	}
	if d.Over {
		d.Stored = stored
	}
	return d.page("teams", teamCrumbs(t, crumb{Word: "As JSON"})), nil
}

func saveTeam(v *pageRequest) (string, error) {
	if err := v.may(access.WriteTeam); err != nil {
		return "", err
	}
	id := v.r.PathValue("id")
	var w countersign.TeamWrite
	err := exactjson.Decode([]byte(v.form("document")), &w)
	if err == nil {
		w.ExpectedRevision = v.formRevision()
		_, err = v.control.PutTeam(v.r.Context(), v.actor, id, w)
	}
	if err == nil {
		return "/teams/" + id, nil
	}
	return "", v.formAgain(err, teamDocument)
}
