package field

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// place is what a play gets of a server: a tenant, and an address that the server may call.
type place struct {
	tenant   string
	listener net.Listener
}

// open starts a server with so many places. Its settings know their addresses, so these are there first.
func open(t *testing.T, n int, settings map[string]string) (*harness.Server, []place) {
	t.Helper()
	var places []place
	var origins, credentials []string
	for i := range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p := place{tenant: "t" + strconv.Itoa(i), listener: l}
		places = append(places, p)
		origins = append(origins, "http://"+l.Addr().String())
		credentials = append(credentials, p.tenant+"/"+harness.SecretEnv)
	}
	all := []harness.Setting{
		harness.Set("CONNECTION_ORIGINS", strings.Join(origins, ",")), harness.Set("SIGNING_ENV_ALLOWLIST", strings.Join(credentials, ",")),
		harness.Env(harness.SecretEnv, harness.Secret), harness.Set("MAX_ACTIVE_RUNS", "1000"),
	}
	for name, v := range settings {
		all = append(all, harness.Set(name, v))
	}
	return harness.Start(t, all...), places
}

// world is the service as one play meets it.
type world struct {
	t        testing.TB
	c        *fieldCase
	mu       sync.Mutex
	names    map[string]string // what stands for <name> in the case
	receiver *receiver
	realm    string // the token of the realm's administrator
	keys     atomic.Int64
}

func newWorld(t testing.TB, c *fieldCase, s *harness.Server, p place) (*world, error) {
	origin := "http://" + p.listener.Addr().String()
	w := &world{t: t, c: c, realm: s.Admin.Token(), names: map[string]string{
		"tenant": p.tenant, "project": p.tenant + "-api", "origin": origin, "address": p.listener.Addr().String(),
		"url": s.URL, "host": strings.TrimPrefix(s.URL, "http://"),
	}}
	w.receiver = &receiver{listener: p.listener, script: c.Receiver, fill: w.fill}
	w.receiver.serve()
	t.Cleanup(w.receiver.close)
	return w, w.setUp()
}

var named = regexp.MustCompile(`<[a-zA-Z]+>`)

// fill puts the play's names into a text. A name that there isn't stays as it is.
func (w *world) fill(s string) string {
	return named.ReplaceAllStringFunc(s, func(name string) string {
		if v := w.name(strings.Trim(name, "<>")); v != "" {
			return v
		}
		return name
	})
}

// name is what stands for a name; now is the time as it is.
func (w *world) name(of string) string {
	if of == "now" {
		return time.Now().UTC().Format(time.RFC3339)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.names[of]
}

func (w *world) set(name, v string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[name] = v
}

func (w *world) key() string { return "key-" + strconv.FormatInt(w.keys.Add(1), 10) }

// must sends what sets up a play, and wants it to succeed.
func (w *world) must(token, method, path string, body any) (map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	q := request{Method: method, Path: "/v1" + path}
	if body != nil {
		q.Body = text{{Of: string(raw), Times: 1}}
	}
	got, err := w.send(q, token)
	if err != nil {
		return nil, err
	}
	if status, _ := got["status"].(json.Number).Int64(); status < 200 || status > 299 {
		return nil, fmt.Errorf("%s %s: %v %v", method, path, got["status"], got["text"])
	}
	out, _ := got["body"].(map[string]any)
	return out, nil
}

type doc = map[string]any

// setUp makes the tenant, a token of each role, the project, and an agent if there is one.
func (w *world) setUp() error {
	tenant := w.name("tenant")
	if _, err := w.must(w.realm, "PUT", "/tenants/"+tenant, doc{"name": tenant}); err != nil {
		return err
	}
	for name, role := range map[string]string{"admin": "ADMIN", "operator": "OPERATOR", "approver": "APPROVER", "viewer": "VIEWER"} {
		made, err := w.must(w.realm, "POST", "/tokens", doc{"name": name, "roles": []string{role}, "tenantId": tenant})
		if err != nil {
			return err
		}
		w.set(name, made["token"].(string))
	}
	if err := w.register(); err != nil {
		return err
	}
	if w.c.Model {
		if _, err := w.must(w.name("operator"), "PUT", "/models/refund", doc{"document": harness.Model("refund")}); err != nil {
			return err
		}
	}
	if err := w.admit(); err != nil {
		return err
	}
	w.receiver.begin()
	return nil
}

// register puts, checks and enables the project.
func (w *world) register() error {
	project := doc{
		"name": "API", "adapter": "HTTP_JSON", "baseUrl": w.name("origin"), "healthPath": "/health",
		"auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}, "capabilities": w.c.capabilities(),
	}
	for name, v := range w.c.Project {
		if project[name] = normal(v, w.fill); v == nil {
			delete(project, name)
		}
	}
	path := "/projects/" + w.name("project")
	if _, err := w.must(w.name("admin"), "PUT", path, project); err != nil {
		return err
	}
	if _, err := w.must(w.name("admin"), "POST", path+"/health-check", nil); err != nil {
		return err
	}
	_, err := w.must(w.name("admin"), "POST", path+"/enable", doc{"expectedRevision": 1})
	return err
}

// capabilities are those of every case, and the case's own.
func (c *fieldCase) capabilities() (out []any) {
	all := map[string]map[string]any{
		"effect": {"method": "POST", "approval": "NONE"},
		"read":   {"method": "GET"},
		"ask":    {"method": "POST", "approval": "ALWAYS"},
	}
	maps.Copy(all, c.Capabilities)
	for name, fields := range all {
		one := doc{"name": name, "method": "POST", "path": "/" + name}
		for k, v := range fields {
			one[k] = normal(v, func(s string) string { return s })
		}
		out = append(out, one)
	}
	return out
}

func (w *world) admit() error {
	if w.c.Agent == nil {
		return nil
	}
	synced, err := w.must(w.name("operator"), "POST", "/systems/"+w.name("project")+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{doc{
		"externalAgentId": "clerk", "sourceRevision": 1, "name": "Clerk", "role": "clerk", "goal": "help", "capabilities": w.c.Agent}}})
	if err != nil {
		return err
	}
	id, _ := at(synced, "items.0.id").v.(string)
	if _, err := w.must(w.name("admin"), "POST", "/agents/"+id+"/admit", doc{"reason": "known"}); err != nil {
		return err
	}
	made, err := w.must(w.name("admin"), "POST", "/tokens", doc{"name": "agent", "roles": []string{"OPERATOR"}, "agentIds": []string{id}})
	if err != nil {
		return err
	}
	w.set("agentId", id)
	w.set("agent", made["token"].(string))
	w.set("door", "/mcp/agents/"+id)
	return nil
}

func jsonInt(n int) json.Number { return json.Number(strconv.Itoa(n)) }
