package test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/test/harness"
)

// returnsDesk is a project API whose one order changes.
type returnsDesk struct {
	*httptest.Server
	mu      sync.Mutex
	order   string // what GET /orders/{id} answers
	reads   []string
	refunds int
}

func newReturnsDesk(t *testing.T) *returnsDesk {
	t.Helper()
	d := &returnsDesk{order: `{"state":"returned","total":59.00}`}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == "POST":
			d.refunds++
			_, _ = io.WriteString(w, `{"status":"done"}`)
		case strings.HasPrefix(r.URL.Path, "/orders/"):
			d.reads = append(d.reads, r.Header.Get("Idempotency-Key"))
			_, _ = io.WriteString(w, d.order)
		default:
			_, _ = io.WriteString(w, `{}`)
		}
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *returnsDesk) becomes(order string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = order
}

func (d *returnsDesk) has(t *testing.T, reads, refunds int) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.reads) != reads || d.refunds != refunds {
		t.Errorf("%d reads %q and %d refunds; want %d and %d", len(d.reads), d.reads, d.refunds, reads, refunds)
	}
}

// conditionally is the capabilities of a project whose refunds have a precondition.
func conditionally(refund doc) []any {
	refund["inputSchema"] = doc{"resourceId": doc{"type": "string", "required": true}, "amount": doc{"type": "number", "required": false}}
	if refund["precondition"] == nil {
		refund["precondition"] = doc{"capability": "order", "fields": []any{"state", "total"}, "when": doc{"kind": "predicate", "variableId": "state", "operator": "eq", "value": "returned"}}
	}
	return []any{
		harness.Capability("refund", "POST", "/refunds", refund),
		harness.Capability("order", "GET", "/orders/{resourceId}", doc{}),
		harness.Capability("guarded", "GET", "/orders/{resourceId}", doc{"approval": "ALWAYS"}),
		harness.Capability("other", "GET", "/others/{otherId}", doc{"inputSchema": doc{"otherId": doc{"type": "string", "required": true}}}),
	}
}

func refundsDesk(t *testing.T, d *returnsDesk, refund doc) *world {
	t.Helper()
	w := &world{Server: harness.Start(t, harness.Set("CONNECTION_ORIGINS", d.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	w.Keep(harness.Secret)
	w.operator, w.approver, w.tenantAdmin = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER"), w.principal(t, "ADMIN")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	w.register(t, shop, doc{
		"name": "Returns", "adapter": "HTTP_JSON", "baseUrl": d.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"capabilities": conditionally(refund),
	})
	return w
}

// asksAnew waits until a run waits for an approval other than before, and reads that.
func (w *world) asksAnew(t *testing.T, id, before string) (a json) {
	t.Helper()
	var approval string
	harness.Until(t, "run "+id+" to ask", func() bool {
		f := w.Admin.Get("/runs/" + id).OK(t).At("waitingFor")
		approval = f.At("approvalId").Text()
		return f.At("kind").Text() == "approval" && approval != before
	})
	return w.Admin.Get("/approvals/" + approval).OK(t)
}

func TestARefundIsSentOnTheStateThatWasApprovedOnly(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	id := w.run(t, step("pay", "refund", doc{"resourceId": "A-1", "amount": 5}))
	first := w.asksAnew(t, id, "")
	first.Is(t, "state.capability", "order").Is(t, "state.values.state", "returned").Is(t, "state.statusCode", 200).Is(t, "state.request.method", "GET")
	stale := doc{"decision": "APPROVED", "reason": "seen", "stateDigest": strings.Repeat("0", 64)}
	w.approver.Post("/approvals/"+first.At("id").Text()+"/decision", stale).Refused(t, "state_conflict")
	d.becomes(`{"state":"returned","total":60}`)
	seen := doc{"decision": "APPROVED", "reason": "seen", "stateDigest": first.At("stateDigest").Text(), "requestDigest": first.At("requestDigest").Text()}
	w.approver.Post("/approvals/"+first.At("id").Text()+"/decision", seen).OK(t)
	second := w.asksAnew(t, id, first.At("id").Text())
	second.Is(t, "previousApprovalId", first.At("id").Text()).Is(t, "changed.0.field", "total").Is(t, "askedAgain", 1)
	w.Admin.Get("/approvals/"+first.At("id").Text()).OK(t).Is(t, "superseded", true).Is(t, "status", "APPROVED")
	d.has(t, 2, 0)
	looked := w.approver.Post("/approvals/"+second.At("id").Text()+"/look", nil).OK(t)
	looked.Is(t, "status", "PENDING").Is(t, "stateDigest", second.At("stateDigest").Text())
	w.approver.Post("/approvals/"+second.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "60 it is"}).OK(t)
	run := w.reaches(t, id, "COMPLETED")
	run.Is(t, "steps.0.stateDigest", second.At("stateDigest").Text())
	d.has(t, 4, 1)
	d.mu.Lock()
	if want := id + ".pay~look-4"; d.reads[3] != want {
		t.Errorf("the last look's key is %s, want %s", d.reads[3], want)
	}
	d.mu.Unlock()
	file := w.Admin.Get("/runs/" + id + "/receipt").Raw
	if v := receipt.Verify([]byte(file), nil); !v.OK {
		t.Errorf("the receipt: %s: %s", v.Section, v.Problem)
	}
	if !strings.Contains(file, `"format":"countersign-receipt/2"`) {
		t.Error("the receipt has the format of the first editions")
	}
}

func TestWhatMustBeSoKeepsARefundFromBeingAskedFor(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	d.becomes(`{"state":"refunded","total":59}`)
	run := w.reaches(t, w.run(t, step("pay", "refund", doc{"resourceId": "A-1"})), "FAILED")
	run.Has(t, "error", "precondition_failed").Is(t, "steps.0.error.code", "precondition_failed").Is(t, "approvalId", harness.Absent).Is(t, "mayHaveHappened", harness.Absent)
	d.becomes(`{"state":"returned"}`)
	w.reaches(t, w.run(t, step("pay", "refund", doc{"resourceId": "A-1"})), "FAILED").Is(t, "steps.0.error.code", "precondition_unknown")
	d.has(t, 2, 0)
}

func TestAPreconditionIsRefusedThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	order := func(more doc) doc {
		p := doc{"capability": "order", "fields": []any{"state"}}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	for name, test := range map[string]struct {
		pre  doc
		says string
	}{
		"nothing":      {order(doc{"capability": "gone"}), "capabilities[0].precondition.capability: gone is no GET capability of this project that only reads"},
		"a write":      {order(doc{"capability": "refund"}), "capabilities[0].precondition.capability: refund is no GET capability of this project that only reads"},
		"asks":         {order(doc{"capability": "guarded"}), "capabilities[0].precondition.capability: guarded asks for approval ALWAYS; nobody is asked about what is read for a precondition"},
		"other inputs": {order(doc{"capability": "other"}), "capabilities[0].precondition.capability: other needs the input otherId, which refund doesn't declare; inputs are taken by name"},
		"blank field":  {order(doc{"fields": []any{" "}}), "capabilities[0].precondition.fields[0]: must name a field; it can't be blank"},
		"twice":        {order(doc{"fields": []any{"state", "state"}}), "capabilities[0].precondition.fields[1]: state is named already"},
		"other field": {order(doc{"when": doc{"kind": "predicate", "variableId": "total", "operator": "gt", "value": 5}}),
			`capabilities[0].precondition.when.variableId: "total" is none of the fields that are read`},
		"order of texts": {order(doc{"when": doc{"kind": "predicate", "variableId": "state", "operator": "gt", "value": "a"}}),
			"capabilities[0].precondition.when.value: gt compares numbers, and this is a string; use eq or neq"},
	} {
		t.Run(name, func(t *testing.T) {
			w.tenantAdmin.Put("/projects/"+shop+"-2", doc{
				"name": "Returns", "adapter": "LOCAL_ECHO", "capabilities": conditionally(doc{"precondition": test.pre}),
			}).Refused(t, "invalid_request", test.says)
		})
	}
}

func TestARehearsalSaysWhatWouldBeLookedAt(t *testing.T) {
	t.Parallel()
	d := newReturnsDesk(t)
	w := refundsDesk(t, d, doc{})
	id := w.operator.Post("/projects/"+shop+"/runs", doc{"capability": "refund", "mode": "DRY_RUN", "inputs": doc{"resourceId": "A-1"}}, key()).OK(t).At("id").Text()
	run := w.reaches(t, id, "COMPLETED")
	run.Is(t, "steps.0.wouldCheck.capability", "order").Is(t, "steps.0.wouldCheck.fields.1", "total").Is(t, "steps.0.wouldCheck.request.url", d.URL+"/orders/A-1")
	d.has(t, 0, 0)
}
