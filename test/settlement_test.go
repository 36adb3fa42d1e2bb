package test

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/test/harness"
)

const answerSeed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"

// bank is a project API behind the receiver kit, which signs, and a line to it that loses what it is told to lose.
type bank struct {
	*httptest.Server
	key string // its public answer key

	mu      sync.Mutex
	effects int
	status  int           // of its answers
	body    string        // of its answers
	line    string        // what happens to a payment: "", "answer lost", "never arrives", "unsigned"
	held    []func()      // payments that never arrived, to be delivered late
	late    chan struct{} // closed when one of them was answered
	lateGot int
	before  func() // what happens while a payment is on such a line
}

// newBank makes a bank whose memory goes back for some time.
func newBank(t *testing.T, goesBack time.Duration) *bank {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "keys.db")+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)")
	if err == nil {
		_, err = db.Exec(receiver.Schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := receiver.NewSQLStore(db, receiver.QuestionMarks)
	if _, err := store.Since(context.Background(), time.Now().Add(-goesBack)); err != nil {
		t.Fatal(err)
	}
	key, err := receiver.ParseAnswerKey(answerSeed)
	if err != nil {
		t.Fatal(err)
	}
	b := &bank{key: receiver.AnswerKeyText(key), status: 201, body: `{"id":"p-1","status":"paid"}`, late: make(chan struct{})}
	kit := receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{[]byte(harness.Secret)}}, Store: store, AnswerKey: key, Settlement: "/settlement",
	}).Handler(http.HandlerFunc(b.pays))
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.carry(kit, w, r) }))
	t.Cleanup(b.Close)
	return b
}

func (b *bank) pays(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == "POST" && b.status < 300 {
		b.effects++
	}
	w.WriteHeader(b.status)
	_, _ = io.WriteString(w, b.body)
}

// carry is the line between the service and the bank.
func (b *bank) carry(kit http.Handler, w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	line := b.line
	b.mu.Unlock()
	if r.URL.Path != "/pay" || line == "" {
		kit.ServeHTTP(w, r)
		return
	}
	if b.before != nil {
		b.before()
	}
	body, _ := io.ReadAll(r.Body)
	copied := r.Clone(context.WithoutCancel(r.Context()))
	copied.Body = io.NopCloser(strings.NewReader(string(body)))
	switch line {
	case "answer lost":
		kit.ServeHTTP(httptest.NewRecorder(), copied)
	case "never arrives":
		b.mu.Lock()
		b.held = append(b.held, func() {
			late := httptest.NewRecorder()
			kit.ServeHTTP(late, copied)
			b.lateGot = late.Code
			close(b.late)
		})
		b.mu.Unlock()
	case "unsigned":
		got := httptest.NewRecorder()
		kit.ServeHTTP(got, copied)
		w.WriteHeader(got.Code)
		_, _ = w.Write(got.Body.Bytes())
		return
	}
	panic(http.ErrAbortHandler) // the connection closes without an answer
}

func (b *bank) had(t *testing.T, n int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.effects != n {
		t.Errorf("%d effects; want %d", b.effects, n)
	}
}

// banks is a world whose project is at a bank.
func banks(t *testing.T, b *bank, settlement doc) *world {
	t.Helper()
	w := &world{Server: harness.Start(t, harness.Set("CONNECTION_ORIGINS", b.URL), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	w.Keep(harness.Secret)
	w.operator, w.approver, w.tenantAdmin = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER"), w.principal(t, "ADMIN")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	p := doc{
		"name": "Bank", "adapter": "HTTP_JSON", "baseUrl": b.URL, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"answerKeys": []any{b.key},
		"capabilities": []any{
			harness.Capability("pay", "POST", "/pay", doc{"approval": "NONE", "timeoutMs": 2000, "expectation": doc{"field": "status", "equals": "paid"}}),
			harness.Capability("read", "GET", "/read", doc{}),
		},
	}
	if settlement != nil {
		p["settlement"] = settlement
	}
	w.register(t, shop, p)
	return w
}

// settles waits until a run has ended by its receiver's word.
func (w *world) settles(t *testing.T, id, status string) (run json) {
	t.Helper()
	harness.Until(t, "run "+id+" to be "+status, func() bool {
		run = w.Admin.Get("/runs/" + id).OK(t)
		return run.At("status").Text() == status
	})
	return run
}

// says waits until the receiver has said this of a run's step.
func (w *world) says(t *testing.T, id, state string) (run json, n int) {
	t.Helper()
	harness.Until(t, "the receiver of run "+id+" to say "+state, func() bool {
		run = w.Admin.Get("/runs/" + id).OK(t)
		for _, s := range run.At("steps.0.settlements").Items() {
			if s.At("state").Text() == state {
				n = s.At("n").Int()
				return true
			}
		}
		return false
	})
	return run, n
}

func TestALostAnswerSettlesByTheReceiversWord(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	b.line = "answer lost"
	id := w.run(t, step("pay", "pay", doc{"amount": 5}))
	run := w.settles(t, id, "COMPLETED")
	run.Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.output.id", "p-1").Is(t, "steps.0.verification.status", "PASSED").Is(t, "steps.0.verification.statusCode", 201)
	run.Is(t, "steps.0.settlements.0.state", "DONE").Is(t, "steps.0.settlements.0.valid", true).Is(t, "steps.0.settlements.0.statusCode", 201)
	run.Is(t, "steps.0.settledBy.keyId", run.At("steps.0.settlements.0.keyId").Text()).Is(t, "steps.0.attempt", 1)
	figures := w.tenantAdmin.Figures(t)
	figures.Is(t, "countersign_capability_unknown_seconds.api.pay."+shop+".count", 1).Is(t, "countersign_capability_uncertain_total.pay."+shop, 1).Is(t, "countersign_capability_verified_total.pay."+shop, 1)
	settled := w.tenantAdmin.Get("/audit?action=steps.settle").OK(t)
	settled.Is(t, "items.0.actor", "system").Is(t, "items.0.subject", "run/"+id).Is(t, "items.0.step", "pay")
	b.had(t, 1)
}

func TestWhatWasNeverSeenIsWithdrawnAndHasNoEffectLater(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	b.line = "never arrives"
	id := w.run(t, step("pay", "pay", doc{"amount": 5}))
	run := w.settles(t, id, "FAILED")
	run.Has(t, "error", "withdrawn").Is(t, "steps.0.error.code", "withdrawn").Is(t, "steps.0.settledBy.keyId", run.At("steps.0.settlements.0.keyId").Text())
	run.Is(t, "mayHaveHappened", harness.Absent).Is(t, "steps.0.mayHaveHappened", harness.Absent)
	b.held[0]()
	<-b.late
	if b.had(t, 0); b.lateGot != 410 {
		t.Errorf("the late request got %d", b.lateGot)
	}
}

func TestAPersonConfirmsWhatTheReceiverSays(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement"})
	settle := func(c *harness.Client, id string, n int, action string) *harness.Answer {
		return c.Post("/runs/"+id+"/settle", doc{"stepId": "pay", "n": n, "action": action, "reason": "seen"})
	}
	b.line = "answer lost"
	done := w.run(t, step("pay", "pay", doc{"amount": 5}))
	run, n := w.says(t, done, "DONE")
	run.Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.settlements.0.output.id", "p-1")
	settle(w.operator, done, n, "CONFIRM").Refused(t, "role_required")
	settle(w.approver, done, n+100, "CONFIRM").Refused(t, "state_conflict")
	settle(w.approver, done, n, "WITHDRAW").Refused(t, "state_conflict")
	settle(w.approver, done, n, "CONFIRM").OK(t).Is(t, "status", "COMPLETED").Is(t, "steps.0.output.id", "p-1")
	settle(w.approver, done, n, "CONFIRM").Refused(t, "state_conflict")
	b.had(t, 1)

	b.line = "never arrives"
	gone := w.run(t, step("pay", "pay", doc{"amount": 6}))
	_, n = w.says(t, gone, "UNSEEN")
	settle(w.approver, gone, n, "CONFIRM").Refused(t, "state_conflict")
	settle(w.approver, gone, n, "WITHDRAW").OK(t).Is(t, "status", "FAILED").Is(t, "steps.0.error.code", "withdrawn")
	b.had(t, 1)
	w.tenantAdmin.Get("/audit?action=runs.settle&subject=run/"+gone).OK(t).Is(t, "items.0.outcome", "done")
}

// TestAMemoryThatMayHaveForgottenDecidesNothing: its WITHDRAWN would not mean that nothing happened.
func TestAMemoryThatMayHaveForgottenDecidesNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t, 0)
	w := banks(t, b, doc{"path": "/settlement", "mode": "AUTOMATIC"})
	b.line = "never arrives"
	id := w.run(t, step("pay", "pay", doc{"amount": 5}))
	run, _ := w.says(t, id, "UNKNOWN")
	run.Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.settlements.0.said", "UNSEEN").Is(t, "steps.0.settlements.0.valid", true)
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t).Is(t, "status", "FAILED").Is(t, "steps.0.error.code", "not_executed").Is(t, "mayHaveHappened", true)
}

func TestAnUnsignedAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, nil)
	w.run(t, step("pay", "pay", doc{"amount": 1}))
	b.line = "unsigned"
	id := w.run(t, step("pay", "pay", doc{"amount": 5}))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.error.code", "answer_unsigned").Has(t, "steps.0.response.body", "paid")
	b.status = 422
	id = w.run(t, step("pay", "pay", doc{"amount": 7}))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.error.code", "answer_unsigned")
	b.line = ""
	id = w.run(t, step("pay", "pay", doc{"amount": 8}))
	w.reaches(t, id, "FAILED").Is(t, "steps.0.error.code", "receiver_refused").Has(t, "steps.0.answeredBy.keyId", "")
	b.status = 500
	id = w.run(t, step("pay", "pay", doc{"amount": 9}))
	w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.error.code", "answer_unsigned")
	b.status = 200
	other := "ed25519:" + "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
	before := w.Admin.Get("/projects/" + shop).OK(t).At("revision").Int()
	w.tenantAdmin.Put("/projects/"+shop+"/answer-keys", doc{"answerKeys": []any{other, b.key}}).OK(t).Is(t, "revision", before)
	id = w.run(t, step("pay", "pay", doc{"amount": 10}), harness.With(step("read", "read", nil), "dependsOn", []any{"pay"}))
	w.reaches(t, id, "COMPLETED").Has(t, "steps.1.answeredBy.keyId", "")
	w.tenantAdmin.Put("/projects/"+shop+"/answer-keys", doc{"answerKeys": []any{other}}).OK(t)
	id = w.run(t, step("read", "read", nil))
	w.reaches(t, id, "FAILED").Is(t, "steps.0.error.code", "answer_unsigned")
	w.tenantAdmin.Get("/audit?action=projects.answer_keys").OK(t).Is(t, "items.0.answerKeys", []any{other}).Is(t, "items.0.weakens", true)
}

// TestAStatementIsConfirmedByCommand, and the keys of answers are changed by one.
func TestAStatementIsConfirmedByCommand(t *testing.T) {
	t.Parallel()
	b := newBank(t, time.Hour)
	w := banks(t, b, doc{"path": "/settlement"})
	address := w.ForCommands()
	run := func(c *harness.Client, args ...string) harness.Result {
		t.Helper()
		env := map[string]string{"COUNTERSIGN_URL": address, "COUNTERSIGN_TOKEN": c.Token(), "XDG_CONFIG_HOME": t.TempDir()}
		r := harness.Run(t, env, args...)
		if r.Status != 0 {
			t.Fatalf("%v: %d %s%s", args, r.Status, r.Out, r.Err)
		}
		return r
	}
	b.line = "answer lost"
	id := w.run(t, step("pay", "pay", doc{"amount": 5}))
	w.says(t, id, "DONE")
	prints(t, run(w.approver, "runs", "settle", id, "--confirm", "--reason", "the bank says so").Out, "COMPLETED")
	shop := w.Admin.Get("/runs/" + id).OK(t).At("steps.0.projectId").Text()
	if shop == "" {
		shop = w.Admin.Get("/projects").OK(t).At("items.0.id").Text()
	}
	run(w.tenantAdmin, "projects", "answer-keys", shop, b.key)
	w.Admin.Get("/projects/"+shop).OK(t).Is(t, "answerKeys.0", b.key)
}
