package test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// routes is the table of contract 1, as far as it is in scope.
var routes = []string{
	"DELETE /tokens/{id}",
	"GET /users", "PUT /users/{email}", "DELETE /users/{email}", "GET /agents", "GET /agents/{id}", "GET /teams", "GET /teams/{id}",
	"POST /agents/{id}/admit", "POST /agents/{ftaAgentId}/heartbeat", "POST /agents/{id}/runs", "POST /agents/{id}/suspend",
	"POST /systems/{projectId}/agents/sync", "POST /teams/{id}/resume", "POST /teams/{id}/runs", "POST /teams/{id}/suspend", "PUT /teams/{id}",
	"GET /approvals", "GET /approvals/{id}", "GET /audit", "GET /audit/verify", "GET /audit/export", "GET /health", "GET /integrations/contract", "GET /metrics",
	"GET /models", "GET /models/{id}", "GET /openapi.json", "GET /plans", "GET /plans/{id}", "GET /plans/{id}/drift",
	"GET /projects", "GET /projects/{id}", "GET /runs", "GET /runs/{id}", "GET /runs/{id}/events", "GET /runs/{id}/receipt", "GET /tenants", "GET /tokens",
	"POST /approvals/{id}/decision", "POST /models/{id}/compile-plan", "POST /models/{id}/resume", "POST /models/{id}/simulate",
	"POST /models/{id}/suspend", "POST /models/{id}/validate", "POST /plans",
	"POST /projects/{id}/conformance", "POST /projects/{id}/disable", "POST /projects/{id}/enable", "POST /projects/{id}/health-check",
	"POST /models/{id}/retire", "POST /models/{id}/restore", "POST /projects/{id}/retire", "POST /projects/{id}/restore",
	"POST /agents/{id}/retire", "POST /agents/{id}/restore", "POST /teams/{id}/retire", "POST /teams/{id}/restore",
	"POST /runs", "POST /runs/{id}/cancel", "POST /runs/{id}/probe", "POST /runs/{id}/reconcile", "POST /tokens",
	"GET /stop", "POST /stop", "POST /go",
	"GET /credentials", "DELETE /credentials/{name}",
	"GET /webhooks", "GET /webhooks/{id}", "PUT /webhooks/{id}", "DELETE /webhooks/{id}",
	"PUT /models/{id}", "PUT /projects/{id}", "PUT /tenants/{id}",
}

func TestTheDocumentHasEveryRouteOfTheContract(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, o := range tenant(t).Document().Operations {
		have[o.Method+" "+o.Path] = true
	}
	for _, route := range routes {
		if !have[route] {
			t.Errorf("the document lacks %s", route)
		}
	}
}

func TestEveryOperationOfTheDocumentExists(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	all := s.Admin.Post("/tokens", doc{"name": "all", "roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	for _, o := range s.Document().Operations {
		a := s.As(all.At("token").Text()).Do(o.Method, o.About("nothing"), nil)
		isAnswered := a.Status < 500 && a.Status != 405 && (a.Status != 404 || strings.Contains(a.Raw, "there is no"))
		if !isAnswered {
			t.Errorf("%s is in the document and not served: %s", o.ID, a)
		}
	}
}

func TestEveryOperationDeclaresTheErrorsOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, o := range tenant(t).Document().Operations {
		have := map[string]bool{}
		for _, status := range o.Statuses() {
			have[status] = true
		}
		for _, status := range []string{"400", "401", "403", "404", "409", "413", "500", "503"} {
			if !have[status] {
				t.Errorf("%s does not declare %s", o.ID, status)
			}
		}
		if len(have) != 9 {
			t.Errorf("%s declares %v", o.ID, o.Statuses())
		}
	}
}

func TestEveryListTakesLimitAndOffset(t *testing.T) {
	t.Parallel()
	for _, o := range tenant(t).Document().Operations {
		if o.Method != "GET" || !strings.HasPrefix(o.ID, "list") {
			continue
		}
		if got := o.Parameters("query"); len(got) < 2 || !cmp.Equal(got[:2], []string{"limit", "offset"}) {
			t.Errorf("%s takes %v", o.ID, got)
		}
	}
}

func TestOnlyRunStartsTakeAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	starts := map[string]bool{"startRun": true, "startAgentRun": true, "startTeamRun": true, "startProjectRun": true}
	for _, o := range tenant(t).Document().Operations {
		if takes := len(o.Parameters("header")) > 0; takes != starts[o.ID] {
			t.Errorf("%s takes the headers %v", o.ID, o.Parameters("header"))
		}
	}
}

// TestListsThatStayOpenHaveNoEnum: what checks answers by the document takes the values that a later release adds; those of today stand
// beside the type.
func TestListsThatStayOpenHaveNoEnum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	document := w.As("").Get("/openapi.json").OK(t)
	for place, known := range map[string]string{
		"components.schemas.WaitingFor.properties.kind": "reconcile", "components.schemas.StepError.properties.code": "set_aside",
		"components.schemas.Error.properties.error": "state_conflict", "components.schemas.Simulation.properties.outcome": "stuck",
		"components.schemas.AuditRecord.properties.outcome": "", "components.schemas.AuditRecord.properties.via": "",
	} {
		schema := document.At(place).Is(t, "type", "string").Is(t, "enum", harness.Absent)
		if listed := schema.At("x-extensible-enum"); known != "" && !strings.Contains(listed.String(), `"`+known+`"`) {
			t.Errorf("%s doesn't name %s: %s", place, known, listed)
		}
	}
	w.viewer.Get("/runs?reason=unheard_of").Refused(t, "invalid_request", "reason")
}
