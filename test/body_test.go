package test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

const plans, simulate = "/plans", "/models/refund/simulate"

func TestTextThatIsNoStrictJSONIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{
		``, ` `, `{`, `{"scenarioId":"small"`, `{"scenarioId":"small",}`, `{scenarioId:"small"}`, `{'scenarioId':'small'}`, `[`, `tru`,
		`{"scenarioId":"small"} {}`, `{"scenarioId":"small"}x`, `{"scenarioId":"small"},`, // trailing data
		`{"scenarioId":"small","scenarioId":"small"}`, `{"scenarioId":"small","scenario\u0049d":"small"}`, // duplicate keys
		`{"scenarioId":"small","inputs":{"amount":1,"amount":1}}`,
		`{"ScenarioId":"small"}`, `{"scenarioid":"small"}`, `{"scenarioId":"small","INPUTS":{}}`, // keys in other case
		`{"scenarioId":"small","inputs":{"amount":NaN}}`, `{"scenarioId":"small","inputs":{"amount":Infinity}}`,
		`{"scenarioId":"small","inputs":{"amount":-Infinity}}`, `{"scenarioId":"small","inputs":{"amount":01}}`,
		`{"scenarioId":"small","inputs":{"amount":+1}}`, `{"scenarioId":"small","inputs":{"amount":.5}}`, `{"scenarioId":"small","inputs":{"amount":1.}}`,
		`{"scenarioId":"\ud800"}`, `{"scenarioId":"\udc00\ud800"}`, `{"scenarioId":"\ud800x"}`, // lone surrogates
		"{\"scenarioId\":\"\xff\"}", "{\"scenarioId\":\"\xed\xa0\x80\"}", "\xef\xbb\xbf{\"scenarioId\":\"small\"}", "{\"scenarioId\":\"a\x00b\"}", "{\"scenarioId\":\"a\nb\"}",
		`{"scenarioId":"\x41"}`, `{"scenarioId":"\u00"}`, `// no comment
		{"scenarioId":"small"}`,
	} {
		w.viewer.Post(simulate, text).Refused(t, "invalid_json")
	}
	w.viewer.Post(simulate, " \r\n\t{\"scenario\\u0049d\" : \"sm\\u0061ll\"} \n").OK(t)
}

func TestNestingEndsAt64Levels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nested := func(levels int) string {
		inner := levels - 2 // the body and planningInputs are two
		return `{"name":"deep","modelId":"refund","modelRevision":1,"steps":[],"planningInputs":{"x":` +
			strings.Repeat("[", inner) + strings.Repeat("]", inner) + `}}`
	}
	w.operator.Post(plans, nested(64)).OK(t)
	w.operator.Post(plans, nested(65)).Refused(t, "invalid_json", "64 levels")
	w.operator.Post(plans, nested(100000)).Refused(t, "invalid_json")
}

func TestUnknownFieldsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	rev := doc{"expectedRevision": 1}
	for path, body := range map[string]doc{
		"PUT /models/m":                       {"document": harness.Model("m")},
		"PUT /models/m2":                      {"document": harness.With(harness.Model("m2"), "agent.extra", 1)},
		"PUT /models/m3":                      {"document": harness.With(harness.Model("m3"), "transitions.0.condition.extra", 1)},
		"POST /models/refund/simulate":        {"scenarioId": "small"},
		"POST /models/refund/compile-plan":    {"scenarioId": "small", "actionBindings": doc{}},
		"POST /models/refund/suspend":         {"reason": "r"},
		"POST /models/refund/resume":          {"reason": "r"},
		"PUT /projects/default-p":             harness.Project(w.shop.Origin()),
		"POST /projects/" + shop + "/enable":  rev,
		"POST /projects/" + shop + "/disable": rev,
		"POST /plans":                         planOf(step("a", "note", nil)),
		"POST /runs":                          {"planId": "p"},
		"POST /runs/r/cancel":                 {"reason": "r"},
		"POST /runs/r/reconcile":              {"resolution": "ABANDON", "evidence": "e"},
		"POST /runs/r/probe":                  {"stepId": "s"},
		"POST /approvals/a/decision":          {"decision": "APPROVED", "reason": "r"},
		"PUT /tenants/other":                  {"name": "n"},
		"POST /tokens":                        {"name": "n", "roles": []string{"VIEWER"}},
		"PUT /projects/default-q":             harness.With(harness.Project(w.shop.Origin()), "capabilities.0.sideEfect", true),
		"PUT /projects/default-r":             harness.With(harness.Project(w.shop.Origin()), "auth.secret", "x"),
		"PUT /projects/default-s":             harness.With(harness.Project(w.shop.Origin()), "capabilities.5.inputSchema.amount.min", 1),
		"PUT /projects/default-t":             harness.With(harness.Project(w.shop.Origin()), "capabilities.5.request", doc{"header": []string{}}),
		"POST /plans?":                        planOf(harness.With(step("a", "note", nil), "retries", 1)),
	} {
		method, target, _ := strings.Cut(path, " ")
		target = strings.TrimSuffix(target, "?")
		all := w.principal(t, "ADMIN", "OPERATOR", "APPROVER")
		if target == "/tenants/other" {
			all = w.Admin
		}
		all.Do(method, target, harness.With(body, "unknownField", 1), key()).Refused(t, "invalid_request", "unknownField")
	}
}

func TestSeveralProblemsAreAllReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := doc{"name": 5, "modelId": "refund", "steps": []any{doc{"id": "", "name": "n", "projectId": true, "inputs": doc{}}}, "mode": "MAYBE"}
	message := w.operator.Post(plans, body).Refused(t, "invalid_request", "name", "steps[0].id", "steps[0].projectId", "steps[0].capability", "steps[0].inputs", "mode", "modelRevision")
	if got := strings.Count(message, "; "); got < 6 {
		t.Errorf("%d separators in %q", got, message)
	}
}

func TestWrongTypesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{
		`null`, `[]`, `"x"`, `1`, `{}`, `{"scenarioId":null}`, `{"scenarioId":1}`, `{"scenarioId":"small","inputs":[]}`, `{"scenarioId":"small","inputs":"x"}`,
		`{"scenarioId":"small","inputs":{"amount":[]}}`, `{"scenarioId":"small","inputs":{"amount":{}}}`,
	} {
		w.viewer.Post(simulate, text).Refused(t, "invalid_request")
	}
}

func TestABodyNeedsTheContentTypeOfJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []string{"", " text/plain", " application/x-www-form-urlencoded", " text/json", " application/jsonp", " application/json-patch+json"} {
		w.viewer.Post(simulate, doc{"scenarioId": "small"}, harness.Header("Content-Type:"+kind)).Refused(t, "invalid_request", "Content-Type")
	}
	for _, kind := range []string{" application/json", " application/json; charset=utf-8", " APPLICATION/JSON"} {
		w.viewer.Post(simulate, doc{"scenarioId": "small"}, harness.Header("Content-Type:"+kind)).OK(t)
	}
}

// Content that nobody reads is refused: a document sent to the validation of the stored
// one would be called valid unseen.
func TestAnOperationWithoutABodyRefusesContent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := harness.Header("Content-Type: text/plain")
	for path, caller := range map[string]*harness.Client{
		"/models/refund/validate": w.viewer, "/projects/" + shop + "/health-check": w.Admin, "/projects/" + shop + "/validate": w.viewer, "/tokens/t/confirm": w.viewer,
	} {
		caller.Post(path, doc{"expectedRevision": 1}).Refused(t, "invalid_request", "expectedRevision")
		caller.Post(path, `{"name":`).Refused(t, "invalid_json")
		caller.Post(path, `[]`).Refused(t, "invalid_request")
		caller.Post(path, `{}`, none).Refused(t, "invalid_request", "Content-Type")
	}
	w.Admin.Do("DELETE", "/tokens/t", doc{"reason": "r"}).Refused(t, "not_found")
	w.viewer.Post("/models/refund/validate", nil).OK(t)
	w.viewer.Post("/models/refund/validate", doc{}).OK(t)
	w.viewer.Post("/models/refund/validate", " null\n").OK(t)
	w.viewer.Post("/models/refund/validate", nil, none).OK(t)
}

const limit = 1 << 20

// padded is a body of exactly this size.
func padded(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }

func TestABodyOverOneMebibyteIs413(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"scenarioId":"small"}`
	w.viewer.Post(simulate, padded(body, limit)).OK(t)
	for _, size := range []int{limit + 1, 2 * limit, 5 * limit} {
		w.viewer.Post(simulate, padded(body, size)).Refused(t, "payload_too_large")
	}
	w.viewer.Post("/models/refund/validate", padded(body, limit+1)).Refused(t, "payload_too_large")
}

func TestABodyOfUnknownLengthIsBoundedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, record := w.token(t, doc{"roles": []string{"VIEWER"}})
	for size, want := range map[int]int{limit: http.StatusOK, limit + 1: http.StatusRequestEntityTooLarge} {
		body := io.MultiReader(strings.NewReader(padded(`{"scenarioId":"small"}`, size))) // hides its length
		req, err := http.NewRequest(http.MethodPost, w.URL+"/v1"+simulate, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+record.At("token").Text())
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: %d", size, res.StatusCode)
		}
	}
}

func TestWhoSendsTooMuchWithoutReadingStillGetsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, record := w.token(t, doc{"roles": []string{"VIEWER"}})
	for header, want := range map[string]string{"Authorization: Bearer " + record.At("token").Text(): "413", "X-None: 1": "401"} {
		body := padded(`{"scenarioId":"small"}`, 8*limit)
		answer := w.Wire(t, "POST /v1"+simulate+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+header+
			"\r\nContent-Type: application/json\r\nContent-Length: 8388608\r\n\r\n"+body)
		if !strings.HasPrefix(answer, "HTTP/1.1 "+want+" ") {
			t.Errorf("expected %s, got %.200q", want, answer)
		}
	}
}

func TestWhoAsksBeforeSendingIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, record := w.token(t, doc{"roles": []string{"VIEWER"}})
	for size, want := range map[string]string{"8388608": "HTTP/1.1 413 ", "22": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "} {
		body := ""
		if size == "22" {
			body = `{"scenarioId":"small"}`
		}
		answer := w.Wire(t, "POST /v1"+simulate+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "+record.At("token").Text()+
			"\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "+size+"\r\n\r\n"+body)
		if !strings.HasPrefix(answer, want) {
			t.Errorf("%s bytes: expected %q, got %.200q", size, want, answer)
		}
	}
}
