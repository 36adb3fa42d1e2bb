package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/issuertest"
	"github.com/countersign/countersign/test/harness"
)

func TestAnAgentsIdentitiesAreChangedByForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, vic := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "vic@example.com", "VIEWER")
	id := w.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	form := ada.Open("/agents/" + id)
	says(t, form, 200, "It has none at an identity provider", "Add an identity…")
	if p := vic.Open("/agents/" + id); strings.Contains(p.Text, "Add an identity") {
		t.Error("a viewer may add one")
	}
	to := "/agents/" + id + "/identities"
	says(t, ada.Submit(to, sheetFields(form, "issuer", "http://id.example.com", "claim", "azp", "value", "clerk")), 400, "The issuer is no https address", `value="clerk"`)
	added := ada.Submit(to, sheetFields(form, "issuer", "https://id.example.com", "claim", "azp", "value", "clerk", "modes", "DRY_RUN"))
	says(t, added, 200, "https://id.example.com", "<code>azp</code> is <code>clerk</code>", "who counts as requester for four eyes", "Remove")
	w.Admin.Get("/agents/"+id).OK(t).Is(t, "identities.0.modes", []string{"DRY_RUN"}).Is(t, "identitiesRevision", 1)
	says(t, ada.Submit(to, sheetFields(form, "issuer", "https://id.example.com", "claim", "sub", "value", "m")), 409, "revision_conflict", `value="m"`)
	says(t, ada.Submit(to, sheetFields(added, "remove", "0")), 200, "It has none at an identity provider")
	w.Admin.Get("/agents/"+id).OK(t).Is(t, "identities", harness.Absent).Is(t, "identitiesRevision", 2)
	says(t, vic.Submit(to, sheetFields(vic.Open("/agents/"+id), "remove", "0", "csrf", w.csrfField(t, vic).Get("csrf"))), 403)
}

func TestPagesSayForWhomAnAgentAsks(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	a := w.approval(t, w.by(t, issuer, map[string]any{"azp": "clerk", "sub": "lena", "email": "lena@example.com", "email_verified": true}).
		Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t).At("id").Text())
	says(t, mara.Open("/approvals/"+a.At("id").Text()), 200, "On behalf of", "lena@example.com (lena at "+issuer.URL+")", "Signed in by", "<code>azp</code> is <code>clerk</code>", "Somebody asks whom this service doesn’t know")
	says(t, mara.Open("/runs/"+a.At("runId").Text()), 200, "On behalf of", "lena@example.com (lena at "+issuer.URL+")", "agent "+agent)
	w.Admin.Put("/users/lena@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	if p := mara.Open("/approvals/" + a.At("id").Text()); strings.Contains(p.Text, "Somebody asks whom") {
		t.Error("a user with that address isn't known")
	}
}

func TestTheCommandLineKeepsIdentities(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	id := s.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	as := func(status int, args ...string) harness.Result {
		t.Helper()
		return s.command(t, status, append([]string{"agents", "identities", id, "--profile", "admin"}, args...)...)
	}
	prints(t, as(0).Out, "identities at revision 0")
	prints(t, as(0, "--add", "https://id.example.com#azp=clerk", "--add", "https://id.example.com#https://example.com/agent=a=b", "--mode", "DRY_RUN").Out,
		"identities at revision 1", "https://id.example.com#azp=clerk, DRY_RUN only, on behalf of each token's subject", "https://id.example.com#https://example.com/agent=a=b")
	prints(t, as(0, "--remove", "https://id.example.com#azp=clerk", "--add", "https://id.example.com#sub=m").Out, "revision 2", "https://id.example.com#sub=m, a machine that acts for nobody")
	prints(t, s.command(t, 0, "agents", "show", id).Out, "identity: https://id.example.com#sub=m")
	prints(t, as(2, "--remove", "https://id.example.com#azp=clerk").Err, "--remove: the agent has no identity https://id.example.com#azp=clerk")
	prints(t, as(2, "--add", "https://id.example.com").Err, `--add: "https://id.example.com": write ISSUER#CLAIM=VALUE, such as https://id.example.com#azp=refund-clerk`)
	s.Admin.Get("/agents/"+id).OK(t).Is(t, "identitiesRevision", 2)
}

// TestTheCommandLineSaysForWhomAnAgentAsked, in an approval and in its run.
func TestTheCommandLineSaysForWhomAnAgentAsked(t *testing.T) {
	t.Parallel()
	issuer := issuertest.New(t)
	w := ownWorld(t, harness.Set("TOKEN_ISSUERS", "default="+issuer.URL))
	w.expects(t)
	agent := w.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	w.identify(t, agent, 0, identity(issuer.URL, "azp", "clerk"))
	a := w.approval(t, w.by(t, issuer, map[string]any{"azp": "clerk", "sub": "lena"}).
		Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t).At("id").Text())
	env := map[string]string{"COUNTERSIGN_URL": w.URL, "COUNTERSIGN_TOKEN": w.viewer.Token(), "HOME": t.TempDir()}
	said := harness.Run(t, env, "approvals", "show", a.At("id").Text()).Out
	prints(t, said, "signed in by", issuer.URL+" azp=clerk", "on behalf of", "lena at "+issuer.URL+", whom this service doesn't know")
	prints(t, harness.Run(t, env, "runs", "show", a.At("runId").Text()).Out, "signed in by", "on behalf of", "lena at "+issuer.URL)
}
