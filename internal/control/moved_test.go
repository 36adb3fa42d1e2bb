package control_test

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestATeamIsJudgedByItsMembersAsTheyAreWhenItIsSaved: one that changes between the look and the
// turn to write, and is admitted again, is judged again.
func TestATeamIsJudgedByItsMembersAsTheyAreWhenItIsSaved(t *testing.T) {
	h := open(t)
	ids := h.admitted(item("a"), item("b"))
	h.store.before = func() {
		h.elsewhere(func() {
			h.admitted(item("a", at(2), func(a *countersign.ManifestAgent) { a.Capabilities = []string{"look"} }), item("b"))
		})
	}
	_, err := h.putTeam(as("acme"), "t1", teamOf(ids, pings("s0", ids[0])))
	wantCode(t, err, countersign.CodeInvalidRequest)
	if err != nil && !contains(err, "ping") {
		t.Errorf("it doesn't name what the member has no more: %v", err)
	}
	_, err = h.service.Team(background, as("acme"), "t1")
	wantCode(t, err, countersign.CodeNotFound)
}

// TestAManifestIsJudgedByTheModelsAsTheyAreWhenItIsApplied: one that another system's agents have
// taken between the look and the turn to write is theirs.
func TestAManifestIsJudgedByTheModelsAsTheyAreWhenItIsApplied(t *testing.T) {
	h := open(t)
	h.store.before = func() {
		h.elsewhere(func() {
			_, err := h.service.SyncAgents(background, as("acme"), "acme-two", manifest(item("c")))
			h.must(err)
		})
	}
	_, err := h.service.SyncAgents(background, as("acme"), "acme-one", manifest(item("a")))
	wantCode(t, err, countersign.CodeInvalidRequest)
	if err != nil && !contains(err, "m1") {
		t.Errorf("it doesn't name the model: %v", err)
	}
}
