package test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// backedUp makes a backup of the running server's store and returns its file.
func (w *world) backedUp(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.db")
	r := harness.Run(t, nil, "backup", file, "--store", w.Store, "-o", "json")
	if r.Status != 0 {
		t.Fatalf("backup: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	report := parsed(t, r.Out)
	report.Is(t, "logs.0.intact", true).Is(t, "logs.1.intact", true).Is(t, "logs.1.tenantId", "default")
	return file
}

func parsed(t *testing.T, text string) json {
	t.Helper()
	v, err := harness.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// restored makes a store from a backup and starts a server with the world's settings on it.
func (w *world) restored(t *testing.T, file string, flags ...string) (*harness.Server, json) {
	t.Helper()
	s := harness.Prepare(t, harness.Set("CONNECTION_ORIGINS", w.shop.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	r := harness.Run(t, nil, append([]string{"restore", file, "--store", s.Store, "-o", "json"}, flags...)...)
	if r.Status != 0 {
		t.Fatalf("restore: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	s.Admin = s.As(w.Admin.Token())
	s.Restart()
	return s, parsed(t, r.Out)
}

// TestWhatWasSentAfterABackupIsNotSentAgainAfterItsRestore: in the backup a run waits for its approval; after the backup it was
// approved and executed.
func TestWhatWasSentAfterABackupIsNotSentAgainAfterItsRestore(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	w.shop.On("POST", "/refunds", harness.Answering(201, `{"ok":true}`))
	plan := w.ready(t, planOf(step("refund", "refund", doc{"orderId": "A-1"})))
	run := w.start(t, plan)
	w.reaches(t, run, "WAITING_APPROVAL")
	file := w.backedUp(t)
	w.approve(t, run)
	ended := w.reaches(t, run, "COMPLETED")
	if ended.At("restoredAt").Exists() {
		t.Errorf("restored before anything was: %s", ended)
	}

	s, report := w.restored(t, file)
	report.Is(t, "projects", 1)
	admin, operator, approver := s.Admin, s.As(w.operator.Token()), s.As(w.approver.Token())
	admin.Get("/projects/"+shop).OK(t).Is(t, "enabled", false).Is(t, "revision", 2)
	admin.Post("/projects/"+shop+"/health-check", nil).OK(t).Is(t, "healthy", true)
	admin.Post("/projects/"+shop+"/enable", doc{"expectedRevision": 2}).OK(t)
	waiting := operator.Get("/runs/"+run).OK(t).Is(t, "status", "WAITING_APPROVAL")
	at := waiting.At("restoredAt").Text()
	waiting.Is(t, "waitingFor.restoredAt", at)
	approver.Get("/approvals/"+waiting.At("waitingFor.approvalId").Text()).OK(t).Is(t, "restoredAt", at)
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		t.Errorf("restoredAt is %q", at)
	}
	approver.Post("/approvals/"+waiting.At("waitingFor.approvalId").Text()+"/decision", doc{"decision": "APPROVED", "reason": "again"}).OK(t)
	harness.Until(t, "the run has ended", func() bool { return operator.Get("/runs/"+run).OK(t).At("status").Text() == "FAILED" })
	if text := operator.Get("/runs/" + run).OK(t).At("error").Text(); !strings.HasPrefix(text, "drift: ") {
		t.Errorf("the run's error is %q", text)
	}
	operator.Get("/runs/"+run).OK(t).Is(t, "restoredAt", at).Is(t, "mayHaveHappened", true).Is(t, "steps.0.mayHaveHappened", true)
	operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "drift")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 1 {
		t.Errorf("the refund was sent %d times", n)
	}
	admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	admin.Get("/audit?action=store.restore").OK(t).Is(t, "total", 1).Is(t, "items.0.subject", "project/"+shop).Is(t, "items.0.before", "revision 1").Is(t, "items.0.after", "revision 2").
		Is(t, "items.0.reason", "restored from a backup with the digest "+report.At("backup.sha256").Text())
}

// TestNothingThatWorksOnceWorksAgainAfterARestore: a link that was used since the backup, and one
// that was not, whether tokens are revoked or not.
func TestNothingThatWorksOnceWorksAgainAfterARestore(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	for _, email := range []string{"ada@example.com", "ben@example.com"} {
		w.Admin.Put("/users/"+email, doc{"roles": []string{"VIEWER"}}).OK(t)
	}
	_, used := linkOf(t, w.Admin.Post("/users/ada@example.com/sign-in-link", doc{"expiresInMinutes": 1440}).OK(t))
	_, unused := linkOf(t, w.Admin.Post("/users/ben@example.com/sign-in-link", doc{"expiresInMinutes": 1440}).OK(t))
	file := w.backedUp(t)
	if b := w.NewBrowser(); b.Submit("/sign-in/link", url.Values{"link": {used}}) == nil || b.Session() == "" {
		t.Fatal("the link signs nobody in")
	}
	for _, flags := range [][]string{nil, {"--revoke-tokens"}} {
		s, report := w.restored(t, file, flags...)
		report.Is(t, "secrets", 3) // the set-up link too
		for name, secret := range map[string]string{"used": used, "unused": unused} {
			b := s.NewBrowser()
			if p := b.Submit("/sign-in/link", url.Values{"link": {secret}}); p.Status != 401 || b.Session() != "" {
				t.Errorf("restored with %v, the %s link: %d %q", flags, name, p.Status, b.Session())
			}
		}
		s.Stop()
	}
}

// TestARestoreCanRevokeEveryToken in the backup.
func TestARestoreCanRevokeEveryToken(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	s, report := w.restored(t, w.backedUp(t), "--revoke-tokens")
	report.Is(t, "tokensRevoked", true).Is(t, "tokens", 5)
	for _, c := range []*harness.Client{w.Admin, w.operator, w.approver} {
		s.As(c.Token()).Get("/projects").Refused(t, "unauthenticated")
	}
	s.Stop()
	r := harness.Run(t, nil, "token", "issue", "--tenant", "default", "--role", "ADMIN", "--store", s.Store)
	if r.Status != 0 {
		t.Fatalf("%d %s", r.Status, r.Err)
	}
	token := strings.TrimSpace(r.Out)
	s.Keep(token)
	s.Restart()
	s.Admin = s.As(token)
	s.Admin.Get("/audit?action=store.restore").OK(t).Is(t, "total", 6)
}

func TestABackupNeverWritesOverAFileAndARestoreNeverOverAStore(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	file := w.backedUp(t)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := harness.Run(t, nil, "backup", file, "--store", w.Store)
	after, err := os.ReadFile(file)
	if again.Status != 1 || again.Err != "countersign: "+file+" exists; a backup never writes over a file\n" || err != nil || string(before) != string(after) {
		t.Errorf("%d %s, %v", again.Status, again.Err, err)
	}
	over := harness.Run(t, nil, "restore", file, "--store", w.Store)
	if over.Status != 1 || over.Err != "countersign: "+w.Store+" is not empty, and nothing is ever written over: give another directory, or move this one away\n" {
		t.Errorf("%d %s", over.Status, over.Err)
	}
	none := harness.Run(t, nil, "backup", file+"2", "--store", t.TempDir())
	if none.Status != 1 || !strings.Contains(none.Err, "there is no store at") {
		t.Errorf("%d %s", none.Status, none.Err)
	}
}

// TestADamagedOrForeignBackupIsNotRestored, and no file is left.
func TestADamagedOrForeignBackupIsNotRestored(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	file := w.backedUp(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, text...)
	flipped[len(text)/2] ^= 1
	for name, content := range map[string][]byte{"flipped": flipped, "cut": text[:len(text)/2], "foreign": []byte("not a store at all"), "empty": nil} {
		path, dir := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "store")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r := harness.Run(t, nil, "restore", path, "--store", dir)
		if r.Status != 1 || len(r.Lines()) != 1 {
			t.Errorf("%s: %d\n%s", name, r.Status, r.Err)
		}
		for _, left := range []string{dir, dir + ".restoring"} {
			if _, err := os.Stat(left); !os.IsNotExist(err) {
				t.Errorf("%s left %s", name, left)
			}
		}
	}
	other := harness.Run(t, nil, "restore", file, "--store", filepath.Join(t.TempDir(), "store"), "--sha256", strings.Repeat("0", 64))
	if other.Status != 2 {
		t.Errorf("%d %s", other.Status, other.Err)
	}
}

// TestDoctorSaysWhatIsBrokenAndWhatToDo, and shows no secrets.
func TestDoctorSaysWhatIsBrokenAndWhatToDo(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	settings := w.Settings()
	settings["SVC_PLATFORM_LISTEN"] = strings.TrimPrefix(w.URL, "http://")
	well := harness.Run(t, settings, "doctor")
	state, status := "in use by a process", 0
	if harness.OnDatabase != nil {
		state, status = fmt.Sprint(harness.Replicas, " alive"), 1 // doctor must report that the tests' server doesn't sync
	}
	for _, part := range []string{state, "runs at", harness.SecretEnv + " is set", w.shop.Origin() + " can be reached"} {
		if !strings.Contains(well.Out, part) {
			t.Errorf("%q is not in\n%s%s", part, well.Out, well.Err)
		}
	}
	if well.Status != status || strings.Contains(well.Out+well.Err, harness.Secret) || strings.Contains(well.Out+well.Err, settings["SVC_PLATFORM_BOOTSTRAP_TOKEN"]) {
		t.Errorf("%d\n%s%s", well.Status, well.Out, well.Err)
	}
	ill := harness.Run(t, map[string]string{
		"SVC_PLATFORM_LISTEN": settings["SVC_PLATFORM_LISTEN"], "SVC_PLATFORM_STORE": t.TempDir(), "SVC_PLATFORM_SIGNING_ENV_ALLOWLIST": "UNSET_SECRET",
		"SVC_PLATFORM_CONNECTION_ORIGINS": "http://127.0.0.1:1", "SVC_PLATFORM_SMTP_URL": "smtp://user:very-secret@127.0.0.1:1?from=a@example.com",
	}, "doctor", "-o", "json")
	found := map[string]string{}
	for _, f := range parsed(t, ill.Out).Items() {
		found[f.At("check").Text()] = f.At("state").Text()
		if f.At("state").Text() != "ok" && f.At("do").Text() == "" {
			t.Errorf("nothing to do about %v", f)
		}
	}
	if ill.Status != 1 || found["credential"] != "BROKEN" || found["mail"] != "BROKEN" || found["origin"] != "warning" || found["store"] != "warning" || strings.Contains(ill.Out, "very-secret") {
		t.Errorf("%d\n%s", ill.Status, ill.Out)
	}
	if wrong := harness.Run(t, map[string]string{"SVC_PLATFORM_MAX_ACTIVE_RUNS": "no", "SVC_PLATFORM_NONSENSE": "1"}, "doctor"); wrong.Status != 1 || strings.Count(wrong.Out, "BROKEN") != 2 {
		t.Errorf("%d\n%s%s", wrong.Status, wrong.Out, wrong.Err)
	}
}
