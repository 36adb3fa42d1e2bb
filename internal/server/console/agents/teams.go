package agents

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

func teamRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/teams", Page: teamsPage},
		// no ID contains a plus sign, so these paths hide no team
		{Method: "GET", Path: "/teams/+new", Page: newTeamPage},
		{Method: "POST", Path: "/teams/+new", Act: createTeam},
		{Method: "GET", Path: "/teams/+form", Page: newTeamFormPage},
		{Method: "POST", Path: "/teams/+form", Act: makeTeam},
		{Method: "GET", Path: "/teams/{id}", Page: teamPage},
		{Method: "GET", Path: "/teams/{id}/edit", Page: teamFormPage},
		{Method: "POST", Path: "/teams/{id}/edit", Act: changeTeam},
		{Method: "POST", Path: "/teams/{id}/suspend", Act: suspendTeam},
		{Method: "POST", Path: "/teams/{id}/resume", Act: resumeTeam},
		{Method: "GET", Path: "/teams/{id}/document", Page: teamDocumentPage},
		{Method: "POST", Path: "/teams/{id}/document", Act: saveTeam},
		{Method: "GET", Path: "/teams/{id}/run", Page: teamRunPage},
		{Method: "POST", Path: "/teams/{id}/run", Act: startTeamRun},
	}
}

func teamsPage(v *web.Request) (*web.Page, error) {
	return web.RecordsPage(v, "teams", "Teams", v.Control.Teams)
}

func teamCrumbs(t countersign.Team, last ...web.Crumb) []web.Crumb {
	return web.CrumbsBelow("Teams", "/teams", t.ID, last...)
}

// teamState says whether a team is suspended; whether it can run depends on its members
// too.
func teamState(t countersign.Team) text.State {
	if t.Retired {
		return text.RetiredState
	}
	if t.Suspended {
		return text.State{Class: "is-wait", Icon: "s-cancelled", Word: "Suspended"}
	}
	return text.State{Class: "is-idle", Icon: "i-check", Word: "Active"}
}
