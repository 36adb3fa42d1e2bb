package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
	"github.com/countersign/countersign/test/judge/evaluator"
)

// bed is a tenant in which sequences are played, one after the other.
type bed struct {
	url, tenant string
	http        *http.Client
	receiver    *receiver
	tokens      map[string]string // by principal
	sequences   int
}

// beds starts a server with so many beds.
func beds(t *testing.T, n int) (out []*bed) {
	t.Helper()
	var origins, credentials []string
	for i := range n {
		b := &bed{tenant: "judged" + string(rune('a'+i)), receiver: newReceiver(t), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4, DisableCompression: true}}}
		t.Cleanup(b.http.CloseIdleConnections)
		origins, credentials = append(origins, b.receiver.origin()), append(credentials, b.tenant+"/"+harness.SecretEnv)
		out = append(out, b)
	}
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", strings.Join(origins, ",")), harness.Set("SIGNING_ENV_ALLOWLIST", strings.Join(credentials, ",")),
		harness.Env(harness.SecretEnv, harness.Secret), harness.Set("MAX_ACTIVE_RUNS", "1000"))
	for _, b := range out {
		b.url = s.URL
		b.furnish(t, s.Admin.Token())
	}
	return out
}

// furnish makes the tenant, its users, tokens and groups.
func (b *bed) furnish(t *testing.T, realm string) {
	t.Helper()
	b.tokens = map[string]string{"realm": realm}
	b.must(t, "realm", "PUT", "/tenants/"+b.tenant, doc{"name": b.tenant})
	b.tokens["admin"] = b.token(t, "realm", doc{"name": "admin", "roles": []string{"ADMIN"}, "tenantId": b.tenant})
	for _, who := range []string{"ann", "ben", "cid"} {
		b.must(t, "admin", "PUT", "/users/"+b.email(who), doc{"roles": []string{"APPROVER"}})
		b.tokens[who] = b.token(t, "admin", doc{"name": who, "roles": []string{"APPROVER"}, "userEmail": b.email(who)})
	}
	b.tokens["dan"] = b.token(t, "admin", doc{"name": "dan", "roles": []string{"APPROVER"}})
	b.tokens["oda"] = b.token(t, "admin", doc{"name": "oda", "roles": []string{"OPERATOR", "APPROVER"}})
	for id, members := range evaluator.Groups {
		var emails []string
		for _, who := range members {
			emails = append(emails, b.email(who))
		}
		b.must(t, "admin", "PUT", "/groups/"+id, doc{"name": id, "members": emails})
	}
}

func (b *bed) email(who string) string { return who + "@" + b.tenant + ".example.com" }

func (b *bed) token(t *testing.T, by string, write doc) string {
	t.Helper()
	return b.must(t, by, "POST", "/tokens", write).text("token")
}

type doc = map[string]any

// answer is an answer of the server.
type answer struct {
	status int
	header http.Header
	body   any
}

// at follows a path such as `steps.0.status`.
func (a answer) at(path string) any { return at(a.body, path) }

func at(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[part]
		case []any:
			if part != "0" || len(in) == 0 {
				return nil
			}
			v = in[0]
		default:
			return nil
		}
	}
	return v
}

func (a answer) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

func (a answer) String() string {
	text, _ := json.Marshal(a.body) // it was parsed
	return fmt.Sprintf("%d %.700s", a.status, text)
}

// request is one request as it is printed.
type request struct {
	by, method, path, body string
	headers                []string
}

func (r request) String() string {
	out := "curl -X " + r.method + " $URL" + r.path + " -H \"Authorization: Bearer $" + strings.ToUpper(r.by) + "\""
	for _, h := range r.headers {
		out += " -H '" + h + "'"
	}
	if r.body != "" {
		out += " -H 'Content-Type: application/json' -d '" + r.body + "'"
	}
	return out
}

func (b *bed) do(t *testing.T, r request) answer {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), r.method, b.url+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+b.tokens[r.by])
	q.Header.Set("Accept", "application/json, text/event-stream")
	if r.body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	for _, h := range r.headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Set(name, value)
	}
	res, err := b.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // it was read completely
	return answer{res.StatusCode, res.Header, parsed(t, text)}
}

func parsed(t *testing.T, text []byte) (v any) {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// must sends what has to succeed.
func (b *bed) must(t *testing.T, by, method, path string, body any) answer {
	t.Helper()
	r := request{by: by, method: method, path: "/v1" + path}
	if body != nil {
		r.body = written(t, body)
	}
	a := b.do(t, r)
	if a.status > 299 {
		t.Fatalf("%s\n%s", r, a)
	}
	return a
}
