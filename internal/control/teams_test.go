package control_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

func (f *fixture) putTeam(a control.Actor, id string, w countersign.TeamWrite) (countersign.Team, error) {
	return f.service.PutTeam(background, a, id, w)
}

// TestTeamNeedsEveryMembersSystemInScope: to be written, over one that is out of
// scope too, and to be read, suspended or run.
func TestTeamNeedsEveryMembersSystemInScope(t *testing.T) {
	h, ids := crewed(t)
	out, err := h.service.SyncAgents(background, as("acme"), "acme-two", manifest(item("c", modelled("m2"))))
	h.must(err)
	_, err = h.service.AdmitAgent(background, as("acme"), out[0].ID, countersign.Admission{Reason: "r"})
	h.must(err)
	mixed := []string{ids[0], out[0].ID}
	limited := as("acme")
	limited.Projects = []string{"acme-one"}
	_, err = h.putTeam(limited, "t2", teamOf(mixed))
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.putTeam(as("acme"), "t2", teamOf(mixed))
	wantCode(t, err, "")
	again := teamOf(ids)
	again.ExpectedRevision = 1
	_, err = h.putTeam(limited, "t2", again)
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.Team(background, limited, "t2")
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.SuspendTeam(background, limited, "t2", "r")
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.service.StartTeamRun(background, limited, "t2", countersign.TeamRunStart{ExpectedRevision: 1}, "k")
	wantCode(t, err, countersign.CodeProjectScope)
	_, err = h.putTeam(limited, "t3", teamOf(ids))
	wantCode(t, err, "")
	page, err := h.service.Teams(background, limited, control.List{Limit: 100})
	if err != nil || page.Total != 2 || page.Items[0].ID != "t1" || page.Items[1].ID != "t3" {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestTeamIsJudgedBeforeItsRevisionIsCompared, and its members' admission last.
func TestTeamIsJudgedBeforeItsRevisionIsCompared(t *testing.T) {
	h, ids := crewed(t)
	h.suspendAgent(ids[1])
	wrong, stale := teamOf(append(ids, "agent-x")), teamOf(ids)
	_, err := h.putTeam(as("acme"), "t1", wrong)
	wantCode(t, err, countersign.CodeInvalidRequest)
	_, err = h.putTeam(as("acme"), "t1", stale)
	wantCode(t, err, countersign.CodeRevisionConflict)
	if !contains(err, "revision 1") {
		t.Errorf("it doesn't name the current revision: %v", err)
	}
	stale.ExpectedRevision = 1
	_, err = h.putTeam(as("acme"), "t1", stale)
	wantCode(t, err, countersign.CodeAgentNotAdmitted)
	stale.ExpectedRevision = 7
	_, err = h.putTeam(as("acme"), "t9", stale)
	wantCode(t, err, countersign.CodeRevisionConflict)
}

// Agents of another tenant are as good as none.
func TestTeamHasAgentsOfItsTenantOnly(t *testing.T) {
	h, ids := crewed(t)
	_, err := h.putTeam(as("beta"), "t1", teamOf(ids))
	wantCode(t, err, countersign.CodeInvalidRequest)
	_, err = h.service.Team(background, as("beta"), "t1")
	wantCode(t, err, countersign.CodeNotFound)
}

// TestSuspendedTeamStaysSuspendedWhenItIsWritten; resuming keeps the revision.
func TestSuspendedTeamStaysSuspendedWhenItIsWritten(t *testing.T) {
	h, ids := crewed(t)
	suspended, err := h.service.SuspendTeam(background, as("acme"), "t1", "r")
	if err != nil || suspended.Revision != 2 || !suspended.Suspended {
		t.Fatalf("%+v, %v", suspended, err)
	}
	w := teamOf(ids)
	w.ExpectedRevision = 2
	if team, err := h.putTeam(as("acme"), "t1", w); err != nil || team.Revision != 3 || !team.Suspended {
		t.Errorf("%+v, %v", team, err)
	}
	if team, err := h.service.ResumeTeam(background, as("acme"), "t1", "r"); err != nil || team.Revision != 3 || team.Suspended {
		t.Errorf("%+v, %v", team, err)
	}
	_, err = h.service.ResumeTeam(background, as("acme"), "t1", "\t")
	wantCode(t, err, countersign.CodeInvalidRequest)
}

func TestEachChangeOfATeamIsAudited(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("a"), item("b"))
	from := len(h.log("acme", 0))
	_, err := h.putTeam(as("acme"), "t1", teamOf(ids))
	h.must(err)
	for range 2 { // the second time nothing changes
		_, err = h.service.SuspendTeam(background, as("acme"), "t1", "why")
		h.must(err)
	}
	_, err = h.service.ResumeTeam(background, as("acme"), "t1", "because")
	h.must(err)
	var got []string
	for _, r := range h.log("acme", from) {
		got = append(got, strings.Join([]string{r.Action, r.Before, r.After, r.Reason}, "|"))
	}
	want := "teams.write||revision 1|\nteams.suspend|revision 1|revision 2, suspended|why\nteams.resume|revision 2, suspended|revision 2|because"
	if strings.Join(got, "\n") != want {
		t.Errorf("%q", got)
	}
}
