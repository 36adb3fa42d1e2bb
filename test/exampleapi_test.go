package test

import (
	"bufio"
	encoding "encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
	"github.com/countersign/countersign/test/harness"
)

// startExample builds examples/go, starts it as a process, and returns its origin.
func startExample(t *testing.T) (origin string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "shop")
	if out, err := exec.Command("go", "build", "-o", program, "../examples/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "-listen", "127.0.0.1:0", "-db", filepath.Join(t.TempDir(), "shop.db"))
	cmd.Env = []string{harness.SecretEnv + "=" + harness.Secret}
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	line, err := bufio.NewReader(log).ReadString('\n')
	origin, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("the example said %q, %v", line, err)
	}
	return origin
}

// exampleProject is the example's own registration, with its present address.
func exampleProject(t *testing.T, origin string) (project doc) {
	t.Helper()
	text, err := os.ReadFile("../examples/go/project.json")
	if err == nil {
		err = encoding.Unmarshal(text, &project)
	}
	if err != nil {
		t.Fatal(err)
	}
	project["baseUrl"] = origin
	return project
}

// TestTheExampleRefundsOnce: an API made with the receiver kit accepts a LIVE run's calls, and answers a repeated refund with the first
// answer.
func TestTheExampleRefundsOnce(t *testing.T) {
	t.Parallel()
	origin := startExample(t)
	w := &world{Server: harness.Start(t, harness.Set("CONNECTION_ORIGINS", origin), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))}
	w.Keep(harness.Secret)
	w.operator, w.approver = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	w.register(t, shop, exampleProject(t, origin))

	order := expecting(step("order", "orders.read", doc{"orderId": "A-48213"}), "status", "returned")
	refund := expecting(bound("refund", "refunds.create", "amount", "order", "total"), "status", "succeeded")
	refund = harness.With(refund, "input", doc{"orderId": "A-48213", "currency": "EUR"})
	list := harness.With(step("list", "refunds.list", doc{"orderId": "A-48213"}), "dependsOn", []any{"refund"})
	id := w.run(t, order, refund, list)
	w.approve(t, id)
	run := w.reaches(t, id, "COMPLETED").Is(t, "steps.1.output.id", "rf-1").Is(t, "steps.1.output.amount", number("249.00"))
	run.Is(t, "steps.2.output.refunds", []any{run.At("steps.1.output").Doc()})

	body := `{"orderId":"A-48213","amount":249.00,"currency":"EUR"}` // byte for byte what the run sent
	again, err := http.NewRequest("POST", origin+"/refunds", strings.NewReader(body))
	if err == nil {
		err = receivertest.Sign(again, []byte(body), []byte(harness.Secret), receiver.Call{RunID: id, StepID: "refund", IdempotencyKey: run.At("steps.1.idempotencyKey").Text(), SentAt: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(again)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the repeat got %s", res.Status)
	}
}
