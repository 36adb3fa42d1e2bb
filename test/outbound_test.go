package test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestEveryCallIsSignedOverTheBytesOnTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reaches(t, w.run(t,
		step("body", "note", doc{"text": "äöü <&> \"quoted\" \u2028 line", "n": number("1.10"), "deep": doc{"a": []any{nil, true}}}),
		step("nobody", "note", nil), step("query", "search", doc{"q": "a b+c/d?e&f=g%", "u": "ü", "yes": true, "n": number("1.50")}),
		step("path", "lookup", doc{"resourceId": "a.b_c-D"}),
	), "COMPLETED")
	all := append(w.shop.Seen("POST", "/notes"), w.shop.Seen("GET", "/search")...)
	all = append(all, w.shop.Seen("GET", "/orders/a.b_c-D")...)
	if len(all) != 4 {
		t.Fatalf("%d requests arrived", len(all))
	}
	for _, q := range all {
		if err := harness.CheckSignature(q, harness.Secret); err != nil {
			t.Errorf("%s %s: %v", q.Method, q.Target, err)
		}
	}
	if got := all[2].Target; got != "/search?n=1.50&q=a%20b%2Bc%2Fd%3Fe%26f%3Dg%25&u=%C3%BC&yes=true" {
		t.Errorf("the target is %s", got)
	}
	if len(all[1].Body) != 0 || all[1].Header.Get("Content-Type") != "" {
		t.Errorf("no field was left for the body: %q, %v", all[1].Body, all[1].Header)
	}
}

func TestRuntimeHeadersNameTheRunTheStepAndTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("n", "note", doc{"text": "x"}))
	w.reaches(t, id, "COMPLETED")
	q := w.shop.Seen("POST", "/notes")[0]
	for name, want := range map[string]string{
		"X-Runtime-Run-Id": id, "X-Runtime-Step-Id": "n", "Idempotency-Key": id + ".n", "Content-Type": "application/json",
		"Accept-Encoding": "identity", "Cookie": "", "Authorization": "", "X-Forwarded-For": "",
	} {
		if got := q.Header.Get(name); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	for name := range q.Header {
		if len(q.Header.Values(name)) != 1 {
			t.Errorf("%s stands %d times", name, len(q.Header.Values(name)))
		}
	}
}

func TestThePlannedBytesAreTheSentOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o-1", "amount": number("12345678901234567890.10")}))
	approval := w.viewer.Get("/approvals/" + w.approval(t, id).At("id").Text())
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
	body := w.shop.Seen("POST", "/refunds")[0].Body
	if want := []byte(`{"amount":12345678901234567890.10,"orderId":"o-1"}`); !bytes.Equal(body, want) {
		t.Errorf("the body is %s", body)
	}
	if !strings.Contains(approval.Raw, `"body":`+string(body)) {
		t.Errorf("the approval does not show the body byte for byte: %s", approval.Raw)
	}
}

func TestBearerAndAPIKeyCarryTheCredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, auth := range map[string]doc{
		"Authorization": {"type": "BEARER", "credentialEnv": harness.SecretEnv},
		"X-Api-Key":     {"type": "API_KEY", "credentialEnv": harness.SecretEnv, "headerName": "X-Api-Key"},
	} {
		project := "default-" + strings.ToLower(name)
		w.register(t, project, harness.With(harness.Project(w.shop.Origin()), "auth", auth))
		w.reaches(t, w.run(t, harness.With(step("s", "search", doc{"by": name}), "projectId", project)), "COMPLETED")
		sent := w.shop.Seen("GET", "/search")
		q := sent[len(sent)-1]
		want := map[string]string{"Authorization": "Bearer " + harness.Secret, "X-Api-Key": harness.Secret}[name]
		if got := q.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
		if q.Header.Get("X-Runtime-Signature") != "" || q.Header.Get("Idempotency-Key") == "" || q.Header.Get("X-Runtime-Timestamp") == "" {
			t.Errorf("the headers are %v", q.Header)
		}
	}
}

func TestMappingsPutEachInputInItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := harness.Input("string", false)
	all := doc{"a": text, "b": text, "c": text}
	capability := func(name, method, path string, request doc) doc {
		c := harness.Capability(name, method, path, doc{"approval": "NONE", "inputSchema": all})
		if request != nil {
			c["request"] = request
		}
		return c
	}
	w.register(t, "default-map", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		capability("get", "GET", "/get/{a}", nil),
		capability("get-ordered", "GET", "/ordered", doc{"query": []string{"c", "a", "b"}}),
		capability("get-path-and-query", "GET", "/twice/{a}", doc{"query": []string{"a", "b", "c"}}),
		capability("post", "POST", "/post/{a}", nil),
		capability("post-query", "POST", "/post-query", doc{"query": []string{"b"}}),
		capability("post-body", "POST", "/post-body/{a}", doc{"query": []string{"c"}, "body": []string{"b"}}),
		capability("post-ordered", "POST", "/post-ordered", doc{"body": []string{"c", "b", "a"}}),
		capability("post-all-query", "POST", "/post-all-query", doc{"query": []string{"a", "b", "c"}}),
		capability("delete", "DELETE", "/delete/{a}", nil),
	}))
	input := doc{"a": "1", "b": "2", "c": "3"}
	for _, c := range []struct{ name, method, path, target, body string }{
		{"get", "GET", "/get/1", "/get/1?b=2&c=3", ""},
		{"get-ordered", "GET", "/ordered", "/ordered?c=3&a=1&b=2", ""},
		{"get-path-and-query", "GET", "/twice/1", "/twice/1?a=1&b=2&c=3", ""},
		{"post", "POST", "/post/1", "/post/1", `{"b":"2","c":"3"}`},
		{"post-query", "POST", "/post-query", "/post-query?b=2", `{"a":"1","c":"3"}`},
		{"post-body", "POST", "/post-body/1", "/post-body/1?c=3", `{"b":"2"}`},
		{"post-ordered", "POST", "/post-ordered", "/post-ordered", `{"c":"3","b":"2","a":"1"}`},
		{"post-all-query", "POST", "/post-all-query", "/post-all-query?a=1&b=2&c=3", ""},
		{"delete", "DELETE", "/delete/1", "/delete/1", `{"b":"2","c":"3"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.reaches(t, w.run(t, harness.With(step("s", c.name, input), "projectId", "default-map")), "COMPLETED")
			sent := w.shop.Seen(c.method, c.path)
			if len(sent) != 1 || sent[0].Target != c.target || string(sent[0].Body) != c.body {
				t.Errorf("sent was %+v", sent)
			}
		})
	}
}

func TestACredentialThatTheReceiverSendsBackIsMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bearer := harness.With(harness.Project(w.shop.Origin()), "auth", doc{"type": "BEARER", "credentialEnv": harness.SecretEnv})
	w.register(t, "default-echoing", bearer)
	w.shop.On("POST", "/notes", harness.Answering(200, `{"you":"sent Bearer `+harness.Secret+`","ok":true}`))
	run := w.reaches(t, w.run(t, harness.With(step("n", "note", nil), "projectId", "default-echoing")), "COMPLETED")
	if !strings.Contains(run.At("steps.0.output.you").Text(), "[credential]") {
		t.Errorf("the output is %s", run.At("steps.0.output"))
	}
	w.shop.On("POST", "/notes", harness.Answering(400, `{"error":"bad token `+harness.Secret+`"}`))
	w.reaches(t, w.run(t, harness.With(step("n", "note", nil), "projectId", "default-echoing")), "FAILED")
}

func TestNoCookieIsKeptAndNoProxyIsUsed(t *testing.T) {
	t.Parallel()
	proxy := harness.NewReceiver(t)
	w := newWorld(t, harness.Env("HTTP_PROXY", proxy.Origin()), harness.Env("http_proxy", proxy.Origin()), harness.Env("ALL_PROXY", proxy.Origin()))
	w.shop.On("POST", "/notes", harness.Raw("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\n{}"))
	w.reaches(t, w.run(t, step("a", "note", nil), step("b", "note", nil)), "COMPLETED")
	if q := w.shop.Seen("POST", "/notes")[1]; q.Header.Get("Cookie") != "" {
		t.Errorf("a cookie came back: %v", q.Header)
	}
	if proxy.Connections() > 0 {
		t.Error("the proxy was used")
	}
}

func TestAListedLocalhostIsCalled(t *testing.T) {
	t.Parallel()
	shop := harness.NewReceiver(t)
	local := strings.Replace(shop.Origin(), "127.0.0.1", "localhost", 1)
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", local))
	s.Admin.Put("/projects/default-local", bare(local)).OK(t)
	s.Admin.Post("/projects/default-local/health-check", nil).OK(t).Is(t, "healthy", true)
	s.Admin.Put("/projects/default-address", bare(shop.Origin())).Refused(t, "origin_not_allowed")
}
