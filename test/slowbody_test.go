package test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// begun is a request whose body the service waits for: it has looked at who asks.
type begun struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	body string
}

// begin sends a POST without its body, and waits until the service asks for that.
func begin(t *testing.T, s *harness.Server, path, body string, headers ...string) *begun {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil { // a net
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nContent-Length: %d\r\n%s\r\n\r\n", path, at.Host, len(body), strings.Join(headers, "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := &begun{t, conn, bufio.NewReader(conn), body}
	if line, err := b.in.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%s: %q, %v", path, line, err)
	}
	if _, err := b.in.ReadString('\n'); err != nil { // the empty line
		t.Fatal(err)
	}
	return b
}

// end sends the body and gives the answer's status.
func (b *begun) end() int {
	b.t.Helper()
	if _, err := io.WriteString(b.conn, b.body); err != nil {
		b.t.Fatal(err)
	}
	res, err := http.ReadResponse(b.in, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode
}

// TestARequestIsJudgedAsOfWhenItsBodyIsThere: the token is revoked, and the user of the session
// loses the role or is signed out, while the body is awaited.
func TestARequestIsJudgedAsOfWhenItsBodyIsThere(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	agent := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	form := "Content-Type: application/x-www-form-urlencoded"
	post := func(name string) string { return `{"name":"` + name + `","roles":["ADMIN"]}` }
	bearer := func(secret string) string { return "Content-Type: application/json\r\nAuthorization: Bearer " + secret }
	for name, c := range map[string]struct {
		path, body string
		json       bool
	}{
		"a write":                         {"/v1/tokens", post("heir"), true},
		"a read":                          {"/v1/models/m/simulate", `{"scenarioId":"s"}`, true},
		"what is wrong with its body":     {"/v1/tokens", `{"name":`, true},
		"an agent's call":                 {"/mcp/agents/" + agent, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, true},
		"an agent's call that is no call": {"/mcp/agents/" + agent, `[]`, true},
	} {
		made := w.Admin.Post("/tokens", doc{"name": "stolen", "roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
		b := begin(t, w.Server, c.path, c.body, bearer(made.At("token").Text()))
		id := made.At("id").Text()
		w.Admin.Delete("/tokens/" + id).OK(t)
		if got := b.end(); got != 401 {
			t.Errorf("%s of a revoked token: %d", name, got)
		}
		if n := len(w.Admin.Get("/audit?actor=token:" + id).OK(t).At("items").Items()); n > 0 {
			t.Errorf("%s: %d records of what a revoked token did", name, n)
		}
	}
	people := 0
	for name, c := range map[string]struct {
		token  string
		end    func(email string)
		status int
	}{
		"stays": {"fine", func(string) {}, 201},
		"loses the role": {"heir", func(email string) {
			w.Admin.Put("/users/"+email, doc{"roles": []string{"VIEWER"}}).OK(t)
		}, 403},
		"is removed": {"heir", func(email string) { w.Admin.Delete("/users/" + email).OK(t) }, 401},
	} {
		for _, where := range []string{"/v1/tokens", "/console/access/tokens/new"} {
			people++
			email := fmt.Sprintf("ada%d@example.com", people)
			ada := w.person(t, email, "ADMIN")
			csrf := w.As("").Get("/session", ada.Cookie()).OK(t).At("csrfToken").Text()
			var b *begun
			if where == "/v1/tokens" {
				b = begin(t, w.Server, where, post(c.token), "Content-Type: application/json", string(ada.Cookie()), "X-CSRF-Token: "+csrf)
			} else {
				b = begin(t, w.Server, where, url.Values{"csrf": {csrf}, "name": {c.token}, "roles": {"ADMIN"}, "reach": {"all"}, "modes": {"LIVE", "DRY_RUN"}, "days": {"1"}}.Encode(), form, string(ada.Cookie()), "Origin: "+w.URL)
			}
			c.end(email)
			if got := b.end(); got != c.status {
				t.Errorf("%s of a user who %s meanwhile: %d, want %d", where, name, got, c.status)
			}
		}
	}
	for _, made := range w.Admin.Get("/tokens").OK(t).At("items").Items() {
		if made.At("name").Text() == "heir" {
			t.Error("a right that had ended left a token behind")
		}
	}
}
