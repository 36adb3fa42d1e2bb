package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/text"
)

// The form that runs a team (contract 7).

type teamRunData struct {
	Team    countersign.Team
	Key     string
	Mode    field
	Inputs  field
	Problem *problem
}

func teamRunPage(v *pageRequest) (*page, error) { return teamRunAgain(v, nil) }

func teamRunAgain(v *pageRequest, err error) (*page, error) {
	if err := v.may(access.StartTeamRun); err != nil {
		return nil, err
	}
	t, unread := v.control.Team(v.r.Context(), v.actor, v.r.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	s := formOf(v, err, "")
	d := teamRunData{Team: t, Key: startKey(v, err), Mode: s.mode(true)}
	d.Inputs = s.document("inputs", "Inputs that differ from the steps’ own", "As JSON, by step id: fields that override the step’s input. What a manifest fixes or a binding brings can’t be set.", text.Pretty(ownInputs(t)), 10)
	d.Problem = s.problem()
	return &page{name: "team-run", Title: "Run " + t.Name, Nav: "teams", Crumbs: teamCrumbs(t, crumb{Word: "Run"}), Data: d}, nil
}

// ownInputs are the steps' literal inputs, as the initial text.
func ownInputs(t countersign.Team) map[string]map[string]countersign.Value {
	out := map[string]map[string]countersign.Value{}
	for _, s := range t.Steps {
		if len(s.Input) > 0 {
			out[s.ID] = s.Input
		}
	}
	return out
}

func startTeamRun(v *pageRequest) (string, error) {
	id := v.r.PathValue("id")
	start := countersign.TeamRunStart{ExpectedRevision: v.formRevision(), Mode: v.form("mode")}
	err := v.chosen("mode")
	if err == nil && v.form("inputs") != "" {
		if err = exactjson.Decode([]byte(v.form("inputs")), &start.Inputs); err != nil {
			err = invalid("inputs", "%s", problemMessage(err))
		}
	}
	if err == nil {
		started, refused := v.control.StartTeamRun(v.r.Context(), v.actor, id, start, startKey(v, nil))
		if refused == nil {
			return "/runs/" + started.Run.ID, nil
		}
		err = refused
	}
	return "", v.formAgain(err, teamRunAgain)
}
