package test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// filledWorld is a world in a directory, with another tenant, agents, an ended run and one that waits for its approval.
func filledWorld(t *testing.T) (w *world, waiting string) {
	t.Helper()
	w = newWorld(t, harness.Set("STORE", filepath.Join(t.TempDir(), "store")))
	w.Store = w.Settings()["SVC_PLATFORM_STORE"]
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true}`))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"OPERATOR"}}).OK(t)
	w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	w.admitted(t, agentItem("a", "note", ""))
	plan := w.ready(t, planOf(step("refund", "refund", doc{"orderId": "A-1"})))
	ended, waiting := w.start(t, plan), w.start(t, plan)
	w.reaches(t, ended, "WAITING_APPROVAL")
	w.approve(t, ended)
	w.reaches(t, ended, "COMPLETED")
	w.reaches(t, waiting, "WAITING_APPROVAL")
	return w, waiting
}

func copyStore(t *testing.T, from, to string, flags ...string) json {
	t.Helper()
	r := harness.Run(t, nil, append([]string{"store", "copy", from, to, "-o", "json"}, flags...)...)
	if r.Status != 0 {
		t.Fatalf("store copy: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	report := parsed(t, r.Out)
	report.Is(t, "toSha256", report.At("fromSha256").Text())
	for _, log := range report.At("logs").Items() {
		log.Is(t, "intact", true)
	}
	return report
}

// copyRefused checks that a copy does nothing and gives one clear reason.
func copyRefused(t *testing.T, from, to, why string, flags ...string) {
	t.Helper()
	r := harness.Run(t, nil, append([]string{"store", "copy", from, to}, flags...)...)
	if r.Status != 2 || len(r.Lines()) != 1 || !strings.Contains(r.Err, why) || r.Out != "" {
		t.Errorf("%d instead of %q\n%s%s", r.Status, why, r.Out, r.Err)
	}
}

// on starts a server with the world's settings and principals on a copy.
func (w *world) on(t *testing.T, store string) *world {
	t.Helper()
	c := &world{shop: w.shop, Server: harness.Prepare(t, harness.Set("STORE", store), harness.Set("CONNECTION_ORIGINS", w.shop.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	c.Store, c.Admin = store, c.As(w.Admin.Token())
	c.operator, c.approver = c.As(w.operator.Token()), c.As(w.approver.Token())
	c.Restart()
	return c
}

// TestAStoreMovesBetweenTheEnginesWithAllThatItKeeps: after a copy there and back nothing differs, and waiting runs continue.
func TestAStoreMovesBetweenTheEnginesWithAllThatItKeeps(t *testing.T) {
	t.Parallel()
	w, waiting := filledWorld(t)
	database := pgtest.Database(t)
	copyRefused(t, w.Store, database, "another process uses the store")
	w.Stop()
	there := copyStore(t, w.Store, database)
	for i, tenant := range []string{"", "acme", "default"} {
		there.At("logs").Items()[i].Is(t, "tenantId", tenant)
	}
	back := filepath.Join(t.TempDir(), "back")
	copyStore(t, database, back).Is(t, "fromSha256", there.At("toSha256").Text()).Is(t, "rows", there.At("rows").Int())
	copyRefused(t, back, database, "is not empty")
	copyRefused(t, back, w.Store, "is not empty")
	copied(t, w.Store, database)
	copied(t, database, back)

	s := w.on(t, back)
	s.approve(t, waiting)
	s.reaches(t, waiting, "COMPLETED")
	s.Stop()
	again := pgtest.Database(t)
	copyStore(t, back, again)
	s = w.on(t, again)
	copyRefused(t, again, filepath.Join(t.TempDir(), "x"), fmt.Sprint("has a record in it, one of ", harness.Replicas))
	s.operator.Get("/runs/"+waiting).OK(t).Is(t, "status", "COMPLETED")
	s.Admin.Get("/agents").OK(t).Is(t, "total", 1).Is(t, "items.0.status", "ADMITTED")
	s.reaches(t, s.startApproved(t), "COMPLETED")
	forced := filepath.Join(t.TempDir(), "forced")
	copyRefused(t, again, forced, "a replica is alive", "--force")
	s.reaches(t, s.startApproved(t), "COMPLETED") // the source isn't marked
	s.Kill()
	copyStore(t, again, forced, "--force")
	copied(t, again, forced)
	if n := len(w.shop.Seen("POST", "/refunds")); n != 4 {
		t.Errorf("refunds were sent %d times instead of 4", n)
	}
}

// copied checks that a store that was copied says where to, and is taken by no command that
// would go on with it.
func copied(t *testing.T, from, to string) {
	t.Helper()
	settings := map[string]string{"SVC_PLATFORM_STORE": from, "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}
	for _, arguments := range [][]string{
		{"serve"}, {"token", "issue", "--tenant", "default", "--role", "ADMIN"}, {"store", "copy", from, filepath.Join(t.TempDir(), "x")},
	} {
		r := harness.Run(t, settings, arguments...)
		if r.Status != 3 || len(r.Lines()) != 1 || !strings.Contains(r.Err, "copied") || !strings.Contains(r.Err, filepath.Base(to)) || !strings.Contains(r.Err, "countersign store reopen") {
			t.Errorf("%s: %d\n%s%s", arguments, r.Status, r.Out, r.Err)
		}
	}
	r := harness.Run(t, settings, "doctor")
	if r.Status == 0 || !strings.Contains(r.Out, "was copied to") || !strings.Contains(r.Out, filepath.Base(to)) {
		t.Errorf("doctor: %d\n%s%s", r.Status, r.Out, r.Err)
	}
}

// TestACopiedStoreSendsNothingThatItsCopyMaySend: neither what waits for an approval nor what a
// crash left unfinished. Reopened it does what a restored one does.
func TestACopiedStoreSendsNothingThatItsCopyMaySend(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]bool{"directory": false, "database": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, waiting := filledWorld(t)
			w.Stop()
			from := w.Store
			if database {
				from = pgtest.Database(t)
				copyStore(t, w.Store, from)
			}
			to := filepath.Join(t.TempDir(), "to")
			copyStore(t, from, to)
			copied(t, from, to)
			s := w.on(t, to)
			s.approve(t, waiting)
			s.reaches(t, waiting, "COMPLETED")
			s.Stop()
			copied(t, from, to)

			if r := harness.Run(t, nil, "store", "reopen", from, "--reason", " "); r.Status != 2 {
				t.Errorf("without a reason: %d %s", r.Status, r.Err)
			}
			r := harness.Run(t, nil, "store", "reopen", from, "--reason", "the copy is given up", "-o", "json")
			if r.Status != 0 {
				t.Fatalf("store reopen: %d\n%s%s", r.Status, r.Out, r.Err)
			}
			parsed(t, r.Out).Is(t, "projects", 1).Is(t, "runs", 1)
			if r := harness.Run(t, nil, "store", "reopen", from, "--reason", "again"); r.Status != 2 || !strings.Contains(r.Err, "was not copied") {
				t.Errorf("once more: %d %s", r.Status, r.Err)
			}
			sent := len(w.shop.Seen("POST", "/refunds"))
			s = w.on(t, from)
			s.Admin.Get("/audit?action=store.restore").OK(t).Is(t, "total", 1)
			at := s.operator.Get("/runs/" + waiting).OK(t).At("restoredAt").Text()
			s.approve(t, waiting)
			s.reaches(t, waiting, "FAILED").Is(t, "restoredAt", at).Is(t, "mayHaveHappened", true)
			if n := len(w.shop.Seen("POST", "/refunds")); n != sent {
				t.Errorf("refunds were sent %d times, and %d before the store was reopened", n, sent)
			}
		})
	}
}

// TestACopyThatIsBrokenOffLeavesNothingToServe: neither the source, which may have been read to
// its end, nor the target. It can be made again, and then goes on.
func TestACopyThatIsBrokenOffLeavesNothingToServe(t *testing.T) {
	t.Parallel()
	w, waiting := filledWorld(t)
	w.Stop()
	broken := pgtest.Database(t)
	pgtest.Exec(t, broken, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$")
	to := filepath.Join(t.TempDir(), "to")
	copyStore(t, w.Store, broken) // its tables are there now
	if r := harness.Run(t, nil, "store", "reopen", w.Store, "--reason", "for the test"); r.Status != 0 {
		t.Fatalf("store reopen: %d %s", r.Status, r.Err)
	}
	var all strings.Builder
	for _, table := range store.Tables() {
		all.WriteString("DELETE FROM " + table.Name + ";")
	}
	pgtest.Exec(t, broken, all.String()+"CREATE TRIGGER refuses BEFORE INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION refuse()")
	if r := harness.Run(t, nil, "store", "copy", w.Store, broken); r.Status != 1 || !strings.Contains(r.Err, "broken off") {
		t.Fatalf("%d\n%s%s", r.Status, r.Out, r.Err)
	}
	for address, want := range map[string]struct {
		status int
		why    string
	}{broken: {2, "not complete"}, w.Store: {3, "began to be copied to"}} {
		r := harness.Run(t, map[string]string{"SVC_PLATFORM_STORE": address, "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}, "serve")
		if r.Status != want.status || !strings.Contains(r.Err, want.why) {
			t.Errorf("serve: %d\n%s", r.Status, r.Err)
		}
	}
	copyStore(t, w.Store, to)
	copied(t, w.Store, to)
	s := w.on(t, to)
	s.operator.Get("/runs/"+waiting).OK(t).Is(t, "status", "WAITING_APPROVAL")
}

// startApproved starts a run of a new plan and approves its request.
func (w *world) startApproved(t *testing.T) string {
	t.Helper()
	run := w.run(t, step("refund", "refund", doc{"orderId": "A-2"}))
	w.approve(t, run)
	return run
}

// TestADatabaseWithPartOfACopyIsNotServedFrom, nor copied from or to.
func TestADatabaseWithPartOfACopyIsNotServedFrom(t *testing.T) {
	t.Parallel()
	w, _ := filledWorld(t)
	w.Stop()
	database := pgtest.Database(t)
	copyStore(t, w.Store, database)
	pgtest.Exec(t, database, `INSERT INTO meta (tenant, id, version, doc) VALUES ('', 'copy-incomplete', 1, '{}')`) // the mark of an incomplete copy
	serve := harness.Run(t, map[string]string{"SVC_PLATFORM_STORE": database, "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}, "serve")
	if serve.Status != 2 || !strings.Contains(serve.Err, "a copy that is not complete") {
		t.Errorf("%d\n%s", serve.Status, serve.Err)
	}
	other, _ := filledWorld(t)
	other.Stop()
	copyRefused(t, other.Store, database, "part of a copy")
	copyRefused(t, database, filepath.Join(t.TempDir(), "x"), "a copy that is not complete")
}

// TestACopyOfNothingIsRefused and creates nothing.
func TestACopyOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to := filepath.Join(dir, "to")
	copyRefused(t, filepath.Join(dir, "none"), to, "there is no store at")
	copyRefused(t, pgtest.Database(t), to, "holds nothing to copy")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestACopyThatWouldLeaveSomethingBehindIsRefused: a newer release has extended the tables, which serve may use.
func TestACopyThatWouldLeaveSomethingBehindIsRefused(t *testing.T) {
	t.Parallel()
	w, _ := filledWorld(t)
	w.Stop()
	database := pgtest.Database(t)
	copyStore(t, w.Store, database)
	pgtest.Exec(t, database, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	copyRefused(t, database, filepath.Join(t.TempDir(), "x"), "copy with that release")
	w.on(t, database)
}

// TestAToolLeavesAStoreOfAnEarlierReleaseAsItWas: opening it would migrate its tables, and the earlier release could no longer use it.
func TestAToolLeavesAStoreOfAnEarlierReleaseAsItWas(t *testing.T) {
	t.Parallel()
	for _, file := range goldenStores(t, "store.tar.gz") {
		dir := filepath.Join(t.TempDir(), "store")
		unpack(t, file, dir)
		was := contents(t, dir)
		copyRefused(t, dir, filepath.Join(t.TempDir(), "x"), "one of an earlier release")
		copyRefused(t, dir, "postgres://nobody@127.0.0.1:1/none", "one of an earlier release")
		wantBehind(t, "token", "issue", "--tenant", "default", "--role", "ADMIN", "--store", dir)
		wantBehind(t, "store", "restored", dir)
		if now := contents(t, dir); !maps.Equal(was, now) {
			t.Errorf("%s: the store was changed", file)
		}
	}
	for _, file := range goldenStores(t, "postgres.sql.gz") {
		database := pgtest.Database(t)
		pgtest.Exec(t, database, string(inflated(t, file)))
		copyRefused(t, database, filepath.Join(t.TempDir(), "x"), "one of an earlier release")
		w, _ := filledWorld(t)
		w.Stop()
		copyRefused(t, w.Store, database, "one of an earlier release")
		wantBehind(t, "store", "restored", database)
	}
}

func wantBehind(t *testing.T, arguments ...string) {
	t.Helper()
	if r := harness.Run(t, nil, arguments...); r.Status != 2 || !strings.Contains(r.Err, "one of an earlier release") {
		t.Errorf("%s: %d %s", arguments, r.Status, r.Err)
	}
}

// contents are a store's files except the lock and the index of the write-ahead log.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := os.ReadDir(dir)
	for _, f := range files {
		text, unread := os.ReadFile(filepath.Join(dir, f.Name()))
		if err = errors.Join(err, unread); !strings.HasSuffix(f.Name(), "-shm") && !strings.HasSuffix(f.Name(), ".lock") {
			out[f.Name()] = string(text)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestACopyIntoItsSourceIsRefused, under any name of the directory.
func TestACopyIntoItsSourceIsRefused(t *testing.T) {
	t.Parallel()
	w, _ := filledWorld(t)
	w.Stop()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.Store, link); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{w.Store, filepath.Join(w.Store, "sub"), filepath.Join(link, "a", "b"), filepath.Dir(w.Store)} {
		copyRefused(t, w.Store, to, "one contains the other")
	}
	copyStore(t, w.Store, w.Store+"-2")
}

// TestADirectoryWhoseCopyWasBrokenOffIsNotServedFromAsAnEmptyOne: a process that is killed amid a
// copy or a restore leaves its part beside the directory, which isn't there.
func TestADirectoryWhoseCopyWasBrokenOffIsNotServedFromAsAnEmptyOne(t *testing.T) {
	t.Parallel()
	for _, left := range []string{".making", ".restoring"} {
		dir := filepath.Join(t.TempDir(), "store")
		if err := os.Mkdir(dir+left, 0o700); err != nil {
			t.Fatal(err)
		}
		settings := map[string]string{"SVC_PLATFORM_STORE": dir, "SVC_PLATFORM_LISTEN": "127.0.0.1:0"}
		for _, command := range []string{"serve", "doctor"} {
			r := harness.Run(t, settings, command)
			if r.Status == 0 || command == "serve" && (r.Status != 2 || !strings.Contains(r.Err, "there is no store at "+dir+", and "+dir+left+" is what is left of a copy or a restore that was broken off, or goes on: let it end or make it again; to begin with an empty store, remove what is left")) {
				t.Errorf("%s: %d\n%s%s", command, r.Status, r.Out, r.Err)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("beside %s a store was made", left)
		}
	}
}
