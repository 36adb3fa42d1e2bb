package crash

import (
	"bufio"
	"bytes"
	encoding "encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var bothCycles = campaign.SizeFlag("both-cycles", 2, 6, "how often to kill service and shop, one of them or both, while calls that were approved go through")

const (
	shopSeedEnv = "ANSWER_SEED"
	shopSeed    = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
)

// signingShop is `countersign shop` as a process of its own, which signs, tells what became of a key,
// and keeps its log over its deaths.
type signingShop struct {
	t       *testing.T
	program string
	log     string
	address string
	key     string // its public answer key
	process *exec.Cmd
}

// newSigningShop starts one whose log goes back for an hour: its memory is whole.
func newSigningShop(t *testing.T, program string) *signingShop {
	t.Helper()
	s := &signingShop{t: t, program: program, log: filepath.Join(t.TempDir(), "shop.log"), address: "127.0.0.1:0"}
	first, err := encoding.Marshal(sample.Entry{At: time.Now().Add(-time.Hour), Method: "GET", Path: "/health", Status: 200, Answer: []byte("{}")})
	if err == nil {
		err = os.WriteFile(s.log, append(first, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.begin()
	t.Cleanup(s.kill)
	return s
}

// begin starts the process, on the address of the one before it.
func (s *signingShop) begin() {
	s.t.Helper()
	s.process = exec.Command(s.program, "shop", "--listen", s.address, "--secret-env", harness.SecretEnv, "--answer-key-env", shopSeedEnv, "--log", s.log)
	s.process.Env = []string{harness.SecretEnv + "=" + harness.Secret, shopSeedEnv + "=" + shopSeed}
	out, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, found := strings.Cut(lines.Text(), `answerKeys ["`); found {
			s.key, _, _ = strings.Cut(rest, `"`)
		}
		if _, rest, found := strings.Cut(lines.Text(), "listens on http://"); found {
			s.address, _, _ = strings.Cut(rest, ";")
			go func() {
				for lines.Scan() { // so that it is never blocked
				}
			}()
			return
		}
	}
	s.t.Fatal("the shop ended at its start")
}

// kill ends it with kill -9.
func (s *signingShop) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // its status says that it was killed
}

// effects counts what was done under each key.
func (s *signingShop) effects() map[string]int {
	s.t.Helper()
	text, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	done := map[string]int{}
	for _, line := range bytes.Split(text, []byte("\n")) {
		var e sample.Entry
		if encoding.Unmarshal(line, &e) == nil && e.Acted() {
			done[e.Key]++
		}
	}
	return done
}

// pair is the service and its shop, with what was asked of them.
type pair struct {
	*harness.Server
	shop               *signingShop
	operator, approver *harness.Client
	runs               []string
	approved           map[string]bool
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{shop: newSigningShop(t, binary), approved: map[string]bool{}}
	p.Server = harness.Prepare(t, harness.Set("CONNECTION_ORIGINS", "http://"+p.shop.address), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret))
	p.Keep(harness.Secret)
	p.Use(binary)
	if !p.Begin() {
		t.Fatalf("the service ended at its start:\n%s", p.Log())
	}
	p.Admin.Put("/projects/"+project, doc{
		"name": "Shop", "adapter": "HTTP_JSON", "baseUrl": "http://" + p.shop.address, "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"answerKeys": []any{p.shop.key}, "settlement": doc{"path": sample.SettlementPath, "mode": "AUTOMATIC"},
		"capabilities": []any{harness.Capability("tell", "PUT", "/orders/{orderId}/notice", doc{
			"approval": "ALWAYS", "request": doc{"body": []any{"text"}}, "inputSchema": doc{"orderId": harness.Input("string", true), "text": harness.Input("string", true)},
		})},
	}).OK(t)
	p.Admin.Post("/projects/"+project+"/health-check", nil).OK(t).Is(t, "healthy", true)
	p.Admin.Post("/projects/"+project+"/enable", doc{"expectedRevision": 1}).OK(t)
	p.operator = p.As(p.Admin.Post("/tokens", doc{"name": "operator", "roles": []string{"OPERATOR"}}).OK(t).At("token").Text())
	p.approver = p.As(p.Admin.Post("/tokens", doc{"name": "approver", "roles": []string{"APPROVER"}}).OK(t).At("token").Text())
	return p
}

// ask starts a call and approves it, which goes wrong where something dies meanwhile: its end is
// looked at later, by its key.
func (p *pair) ask(n int) {
	body := doc{"capability": "tell", "mode": "LIVE", "inputs": doc{"orderId": "A-48213", "text": fmt.Sprint("notice ", n)}}
	a, err := p.operator.Try("POST", "/projects/"+project+"/runs", body, harness.Header(fmt.Sprint("Idempotency-Key: k-", n)))
	if err != nil || a.Status != 202 {
		return
	}
	id := a.JSON.At("id").Text()
	p.runs = append(p.runs, id)
	p.approve(id)
}

func (p *pair) approve(id string) {
	a, err := p.operator.Try("GET", "/runs/"+id, nil)
	if err != nil || a.JSON.At("waitingFor.kind").Text() != "approval" {
		return
	}
	a, err = p.approver.Try("POST", "/approvals/"+a.JSON.At("waitingFor.approvalId").Text()+"/decision", doc{"decision": "APPROVED", "reason": "seen"})
	p.approved[id] = p.approved[id] || err == nil && a.Status == 200
}

// TestServiceAndShopAreKilledAgainAndAgain: kill -9 of the service, the shop or both while calls go
// through, in AUTOMATIC with a memory that is whole. No person is ever asked what became of a call; what was
// approved was done once, or it is said that it was not and it never was.
func TestServiceAndShopAreKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	p, r := newPair(t), rand.New(rand.NewPCG(seed.First(t), 12))
	n, died := 0, map[string]int{}
	for range bothCycles.N() {
		asked := make(chan struct{})
		from := n
		n += 1 + r.IntN(4)
		go func() {
			defer close(asked)
			for i := from; i < n; i++ {
				p.ask(i)
			}
		}()
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond) // at any moment
		who := []string{"service", "shop", "both"}[r.IntN(3)]
		died[who]++
		if who != "shop" {
			p.Kill()
		}
		if who != "service" {
			p.shop.kill()
		}
		<-asked
		if who != "service" {
			p.shop.begin()
		}
		if who != "shop" && !p.Begin() {
			t.Fatalf("the service ended at its start:\n%s", p.Log())
		}
		p.come(t)
	}
	p.check(t)
	t.Logf("%v died; %d runs, %d approved", died, len(p.runs), len(p.approved))
}

// come waits until each run has ended or waits for an approval, and approves those that do.
func (p *pair) come(t *testing.T) {
	t.Helper()
	for _, id := range p.runs[max(0, len(p.runs)-8):] {
		harness.Until(t, "run "+id+" to end", func() bool {
			p.approve(id)
			return ended(p.Admin.Get("/runs/" + id).OK(t).At("status").Text())
		})
	}
}

// check compares what was done with what the runs say.
func (p *pair) check(t *testing.T) {
	t.Helper()
	done, effects := p.shop.effects(), 0
	codes := map[string]int{}
	for _, id := range p.runs {
		run := p.Admin.Get("/runs/" + id).OK(t)
		times, code := done[id+"."+run.At("steps.0.id").Text()], run.At("steps.0.error.code").Text()
		effects += times
		codes[run.At("status").Text()+" "+code]++
		if reconciled := run.At("steps.0.reconciliation"); reconciled.Exists() {
			t.Errorf("run %s asked a person: %s", id, reconciled)
		}
		switch {
		case run.At("status").Text() == "COMPLETED" && times == 1:
		case run.At("status").Text() == "FAILED" && (code == "withdrawn" || code == "not_sent") && times == 0:
		default:
			t.Errorf("run %s is %s %s, and was done %d times", id, run.At("status").Text(), code, times)
		}
	}
	all := 0
	for _, times := range done {
		all += times
	}
	if all != effects || effects > len(p.runs) {
		t.Errorf("%d effects, of which %d are of the %d runs", all, effects, len(p.runs))
	}
	t.Logf("%d effects; the runs are %v", all, codes)
}
