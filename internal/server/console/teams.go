package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

func teamRoutes() []route {
	return []route{
		{method: "GET", path: "/teams", page: teamsPage},
		// no ID contains a plus sign, so these paths hide no team
		{method: "GET", path: "/teams/+new", page: newTeamPage},
		{method: "POST", path: "/teams/+new", act: createTeam},
		{method: "GET", path: "/teams/+form", page: newTeamFormPage},
		{method: "POST", path: "/teams/+form", act: makeTeam},
		{method: "GET", path: "/teams/{id}", page: teamPage},
		{method: "GET", path: "/teams/{id}/edit", page: teamFormPage},
		{method: "POST", path: "/teams/{id}/edit", act: changeTeam},
		{method: "POST", path: "/teams/{id}/suspend", act: suspendTeam},
		{method: "POST", path: "/teams/{id}/resume", act: resumeTeam},
		{method: "GET", path: "/teams/{id}/document", page: teamDocumentPage},
		{method: "POST", path: "/teams/{id}/document", act: saveTeam},
		{method: "GET", path: "/teams/{id}/run", page: teamRunPage},
		{method: "POST", path: "/teams/{id}/run", act: startTeamRun},
	}
}

func teamsPage(v *pageRequest) (*page, error) {
	return recordsPage(v, "teams", "Teams", v.control.Teams)
}

func teamCrumbs(t countersign.Team, last ...crumb) []crumb {
	return crumbsBelow("Teams", "/teams", t.ID, last...)
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
