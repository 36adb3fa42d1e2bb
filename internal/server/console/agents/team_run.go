package agents

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The form that runs a team (contract 7).

type teamRunData struct {
	Team    countersign.Team
	Key     string
	Mode    form.Field
	Inputs  form.Field
	Problem *web.Problem
}

func teamRunPage(v *web.Request) (*web.Page, error) { return teamRunAgain(v, nil) }

func teamRunAgain(v *web.Request, err error) (*web.Page, error) {
	if err := v.May(access.StartTeamRun); err != nil {
		return nil, err
	}
	t, unread := v.Control.Team(v.R.Context(), v.Actor, v.R.PathValue("id"))
	if unread != nil {
		return nil, unread
	}
	s := form.Of(v, err, "")
	d := teamRunData{Team: t, Key: form.StartKey(v, err), Mode: s.Mode(true)}
	d.Inputs = s.Document("inputs", "Inputs that differ from the steps’ own", "As JSON, by step id: fields that override the step’s input. What a manifest fixes or a binding brings can’t be set.", text.Pretty(ownInputs(t)), 10)
	d.Problem = s.Problem()
	return &web.Page{Name: "team-run", Title: "Run " + t.Name, Nav: "teams", Crumbs: teamCrumbs(t, web.Crumb{Word: "Run"}), Data: d}, nil
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

func startTeamRun(v *web.Request) (string, error) {
	id := v.R.PathValue("id")
	start := countersign.TeamRunStart{ExpectedRevision: v.FormRevision(), Mode: v.Form("mode")}
	err := v.Chosen("mode")
	if err == nil && v.Form("inputs") != "" {
		if err = exactjson.Decode([]byte(v.Form("inputs")), &start.Inputs); err != nil {
			err = web.Invalid("inputs", "%s", web.ProblemMessage(err))
		}
	}
	if err == nil {
		started, refused := v.Control.StartTeamRun(v.R.Context(), v.Actor, id, start, form.StartKey(v, nil))
		if refused == nil {
			return "/runs/" + started.Run.ID, nil
		}
		err = refused
	}
	return "", v.FormAgain(err, teamRunAgain)
}
