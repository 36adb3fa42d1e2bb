package test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// A golden store is a store that a release has left behind, on each engine, with the answers of that release about it. They are made with
// the binary of the release when it is published:
//
//	go test ./test -run Golden -golden 0.1.0
//
// They are never made again: users have stores of released versions.
var makeGolden = flag.String("golden", "", "make the golden stores of this release first")

var goldenMade sync.Once

const goldens = "golden"

// goldenWorld has records of each kind: ended, waiting and uncertain runs, agents, a team, users, a second tenant.
func goldenWorld(t *testing.T, settings ...harness.Setting) *world {
	t.Helper()
	w := newWorld(t, append(settings, harness.Set("APPROVAL_TTL", "876000h"))...)
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true,"amount":12.50}`))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"OPERATOR"}}).OK(t)
	ids := w.admitted(t, agentItem("reader", "lookup", "refund"), agentItem("payer", "note", "refund"))
	w.operator.Put("/teams/refunds", teamOf(ids, teamStep("look", ids[0], "lookup", doc{"resourceId": "o-1"}), teamStep("pay", ids[1], "note", doc{"text": "x"}))).OK(t)
	w.register(t, "default-echo", doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": []any{
		harness.Capability("say", "POST", "/say", doc{"inputSchema": doc{"text": harness.Input("string", true)}}),
	}})
	ended := w.run(t, step("refund", "refund", doc{"orderId": "A-1"}))
	w.approve(t, ended)
	w.reaches(t, ended, "COMPLETED")
	w.reaches(t, w.run(t, echo("waiting")), "WAITING_APPROVAL")
	w.uncertain(t)
	return w
}

// echo is a step that needs an approval and no network.
func echo(text string) doc {
	return doc{"id": "say", "name": "say", "projectId": "default-echo", "capability": "say", "input": doc{"text": text}, "expectation": doc{"field": "text", "equals": text}}
}

// kinds are the collections that are compared before and after.
var kinds = []string{"models", "projects", "plans", "runs", "approvals", "agents", "teams"}

// said are the service's answers about everything in its store, by path.
func said(t *testing.T, c *harness.Client) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, kind := range kinds {
		for _, item := range c.Get("/" + kind + "?limit=100").OK(t).At("items").Items() {
			path := "/" + kind + "/" + item.At("id").Text()
			all[path] = c.Get(path).OK(t).Doc()
		}
	}
	return all
}

// goldenStores are the files of each release, by engine.
func goldenStores(t *testing.T, ending string) []string {
	t.Helper()
	goldenMade.Do(func() {
		if *makeGolden != "" {
			makeGoldenStores(t, filepath.Join(goldens, *makeGolden))
		}
	})
	files, err := filepath.Glob(filepath.Join(goldens, "*", ending))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden store: %v", err)
	}
	return files
}

func makeGoldenStores(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil { // one that exists is a release's
		t.Fatal(err)
	}
	w := goldenWorld(t, harness.Set("STORE", filepath.Join(t.TempDir(), "store")))
	w.Store = w.Settings()["SVC_PLATFORM_STORE"]
	keepJSON(t, filepath.Join(dir, "said.json.gz"), said(t, w.Admin))
	w.Kill() // so that a part of it is in the log alone
	keepDirectory(t, w.Store, filepath.Join(dir, "store.tar.gz"))
	database := pgtest.Database(t)
	p := goldenWorld(t, harness.Set("STORE", database))
	keepJSON(t, filepath.Join(dir, "said-postgres.json.gz"), said(t, p.Admin))
	p.Stop()
	keepDump(t, database, filepath.Join(dir, "postgres.sql.gz"))
}

// TestAGoldenStoreOfEachReleaseIsServedOn: everything in it reads as before, its audit logs are intact, and waiting runs continue.
func TestAGoldenStoreOfEachReleaseIsServedOn(t *testing.T) {
	t.Parallel()
	for _, file := range goldenStores(t, "store.tar.gz") {
		dir := filepath.Join(t.TempDir(), "store")
		unpack(t, file, dir)
		goesOn(t, dir, readJSON(t, filepath.Join(filepath.Dir(file), "said.json.gz")))
	}
}

// TestAGoldenDatabaseOfEachReleaseIsServedOn likewise.
func TestAGoldenDatabaseOfEachReleaseIsServedOn(t *testing.T) {
	t.Parallel()
	for _, file := range goldenStores(t, "postgres.sql.gz") {
		database := pgtest.Database(t)
		pgtest.Exec(t, database, string(inflated(t, file)))
		goesOn(t, database, readJSON(t, filepath.Join(filepath.Dir(file), "said-postgres.json.gz")))
	}
}

// goesOn starts the present binary on a store of an earlier release.
func goesOn(t *testing.T, store string, was json) {
	t.Helper()
	s := harness.Prepare(t, harness.Set("STORE", store), harness.Env(harness.SecretEnv, harness.Secret))
	if !s.Shared() {
		s.Store = store
	}
	s.Restart() // tables first: a tool opens no store of an earlier release
	s.Stop()
	w := &world{Server: s, operator: issued(t, s, "OPERATOR"), approver: issued(t, s, "APPROVER")}
	s.Admin = issued(t, s, "ADMIN")
	s.Restart()
	for _, path := range was.Keys() {
		if problem := lacks(was.Doc()[path], s.Admin.Get(path).OK(t).Doc()); problem != "" {
			t.Errorf("%s: %s", path, problem)
		}
	}
	s.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	waiting := s.Admin.Get("/runs?status=WAITING_APPROVAL").OK(t).Is(t, "total", 1).At("items.0.id").Text()
	w.approve(t, waiting)
	w.reaches(t, waiting, "COMPLETED")
	uncertain := s.Admin.Get("/runs?status=RECOVERY_REQUIRED").OK(t).Is(t, "total", 1).At("items.0.id").Text()
	w.approver.Post("/runs/"+uncertain+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"ok": true})).OK(t).Is(t, "status", "COMPLETED")
	// Not a key of key(): those were used when the store was made.
	next := w.operator.Post("/runs", doc{"planId": w.ready(t, planOf(echo("after")))}, harness.Header("Idempotency-Key: of-a-later-release")).OK(t).At("id").Text()
	w.approve(t, next)
	w.reaches(t, next, "COMPLETED")
	s.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	s.Stop() // a token of this test is none of the realm, whose log would be read at its end
}

// issued creates a token on a stopped store; the release's own tokens have expired.
func issued(t *testing.T, s *harness.Server, role string) *harness.Client {
	t.Helper()
	r := harness.Run(t, map[string]string{"SVC_PLATFORM_STORE": s.Settings()["SVC_PLATFORM_STORE"]}, "token", "issue", "--tenant", "default", "--role", role)
	if r.Status != 0 {
		t.Fatalf("%d %s", r.Status, r.Err)
	}
	token := strings.TrimSpace(r.Out)
	s.Keep(token)
	return s.As(token)
}

// changing are fields that depend on time or settings, not on the store.
var changing = []string{"liveness", "secretConfigured"}

// lacks names what of an earlier answer is missing in a later one, which may have more.
func lacks(was, is any) string {
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for name, v := range was {
			if slices.Contains(changing, name) {
				continue
			}
			if problem := lacks(v, now[name]); problem != "" {
				return name + ": " + problem
			}
		}
		return ""
	case []any:
		now, _ := is.([]any)
		if len(now) != len(was) {
			return "another length"
		}
		for i, v := range was {
			if problem := lacks(v, now[i]); problem != "" {
				return problem
			}
		}
		return ""
	}
	if was != is {
		return "it has changed"
	}
	return ""
}
