package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAnAnswerWithBlanksIsApprovedOnce: the request that the approver saw is sent, whatever white space the receiver's JSON has.
func TestAnAnswerWithBlanksIsApprovedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	project := harness.Project(w.shop.Origin())
	project["capabilities"] = append(harness.Capabilities(), harness.Capability("keep", "POST", "/keep", doc{"approval": "ALWAYS"}))
	w.register(t, "default-blank", project)
	w.shop.On("GET", "/search", harness.Answering(200, "{ \"ok\" : true,\n\t\"customer\" : { \"id\" : \"C-1\" , \"tags\" : [ 1.50 , 2 ] } }"))
	run := w.run(t, harness.With(step("read", "search", doc{}), "projectId", "default-blank"),
		harness.With(bound("keep", "keep", "customer", "read", "customer"), "projectId", "default-blank"))
	approval := w.approval(t, run)
	w.approver.Post("/approvals/"+approval.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "r"}).OK(t)
	w.reaches(t, run, "COMPLETED")
	if n := w.Admin.Get("/approvals?runId=" + run).OK(t).At("total").Int(); n != 1 {
		t.Errorf("%d approvals were asked for", n)
	}
	if got, want := string(w.shop.Seen("POST", "/keep")[0].Body), `{"customer":{"id":"C-1","tags":[1.50,2]}}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}
