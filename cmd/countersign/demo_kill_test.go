package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/demo"
	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/test/harness"
)

// atOnce is how many demos run concurrently.
const atOnce = 2

// TestDemoSurvivesKillAfterEveryLine: a demo that is killed after any line and started again has
// the same end, and each refund is made once. With -short some lines are drawn, since each needs
// two runs of the demo.
func TestDemoSurvivesKillAfterEveryLine(t *testing.T) {
	binary := program(t)
	points := killPoints(string(finish(t, binary, t.TempDir())))
	if len(points) < len(demoLines) {
		t.Fatalf("it is killed at %d points only", len(points))
	}
	if testing.Short() {
		rand.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		points = points[:3]
	}
	slots := make(chan struct{}, atOnce)
	for _, n := range points {
		t.Run("line "+strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			dir := t.TempDir()
			killAfter(t, binary, dir, n)
			assertTold(t, string(finish(t, binary, dir)))
			assertRefundedOnce(t, dir)
		})
	}
}

// program is the path of the command.
func program(t *testing.T) string {
	t.Helper()
	path, err := harness.AsTested(t.TempDir(), "countersign")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// killPoints are the numbers, from 1, of the lines after which something may happen. Nothing
// happens between a line and its continuation below the label, or between an empty line and the
// title below it.
func killPoints(out string) (points []int) {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, line := range lines {
		continued := i+1 < len(lines) && strings.HasPrefix(lines[i+1], strings.Repeat(" ", 17)) // the column of values
		if line != "" && !continued {
			points = append(points, i+1)
		}
	}
	return points
}

// killAfter runs a demo and kills it with SIGKILL after its n-th line.
func killAfter(t *testing.T, binary, dir string, n int) {
	t.Helper()
	process := exec.Command(binary, "demo", "--yes", "--store", dir)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); n > 0 && s.Scan(); n-- {
	}
	_ = process.Process.Kill()
	_ = process.Wait() // a killed process always fails
}

// patience bounds a demo; a demo that hangs is ended with its stacks.
const patience = 5 * time.Minute

// finish runs a demo to its end.
func finish(t *testing.T, binary, dir string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, binary, "demo", "--yes", "--store", dir)
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGQUIT) }
	var errs bytes.Buffer
	process.Stderr = &errs
	out, err := process.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &errs)
	}
	return out
}

// assertRefundedOnce: each returned order was refunded by one request under one key.
func assertRefundedOnce(t *testing.T, dir string) {
	t.Helper()
	keys, orders := map[string]int{}, map[string]int{}
	for _, e := range refundsIn(logOf(t, dir)) {
		keys[e.Key]++
		orders[orderOf(e.Body)]++
	}
	payouts := 0
	for _, e := range logOf(t, dir) {
		if e.Acted() && e.Path == "/accounts/"+sample.CustomerAccount+"/payouts" {
			payouts++
		}
	}
	if payouts != 1 {
		t.Errorf("%d payouts were made", payouts)
	}
	for _, order := range []string{sample.ReturnedOrder, sample.LostOrder, sample.TeamOrder} {
		if orders[order] != 1 {
			t.Errorf("%s is refunded %d times", order, orders[order])
		}
	}
	if len(orders) != 3 || len(keys) != 3 {
		t.Errorf("refunds were made under %v, of %v", keys, orders)
	}
}

// orderOf reads the order in a request's body, "" for none.
func orderOf(body string) string {
	var about struct {
		OrderID string `json:"orderId"`
	}
	_ = json.Unmarshal([]byte(body), &about) // a request without a body has no order
	return about.OrderID
}

// The moments of a request at which the process dies in the tests below: before the shop handles
// it, or after that and before the answer.
const (
	dieArrived = "arrived"
	dieDone    = "done"
)

// envDie has the moment and the request at which TestDemoThatDies dies, with the order in the body:
// "done POST /refunds A-48213".
const envDie = "COUNTERSIGN_TEST_DEMO_DIES"

// TestDemoSurvivesKillInFlight: a demo that is killed with a request in flight has the same end. It
// repeats a read, and has the shop say what became of a side effect. What the shop has never seen its young log doesn't rule
// out, so a person decides, and another run does it. With -short it plays the first
// refund and a random selection of the others.
func TestDemoSurvivesKillInFlight(t *testing.T) {
	const settled = "settled       by the shop's word"
	const notExecuted = "reconciled    CONFIRMED_NOT_EXECUTED by mara@marlow.example"
	for _, c := range []struct{ request, arrived, done string }{
		{"GET /health", "", ""},
		{"GET /orders/A-48213", "", ""},
		{"POST /refunds A-48213", notExecuted, settled},
		{"PUT /orders/A-48213/notice", notExecuted, settled},
		{"POST /returns/R-7731/close", notExecuted, settled},
		{"POST /refunds A-48537", notExecuted, settled}, // its answer is lost without a kill too
		{"GET /accounts/C-2207", "", ""},
		{"POST /accounts/C-2207/payouts", notExecuted, settled},
		{"GET /orders/A-48377", "", ""},
		{"POST /refunds A-48377", notExecuted, settled},
		{"GET /calls", "", settled},              // the question what became of a key
		{"GET /refunds?orderId=A-48213", "", ""}, // the probe, in a recovering demo
		{"GET /refunds?orderId=A-48377", "", ""},
	} {
		for moment, resolution := range map[string]string{dieArrived: c.arrived, dieDone: c.done} {
			if testing.Short() && c.request != "POST /refunds A-48213" && rand.IntN(6) > 0 {
				continue
			}
			t.Run(moment+" "+c.request, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if _, order, isProbe := strings.Cut(c.request, "?orderId="); isProbe {
					dieAt(t, dir, dieArrived+" POST /refunds "+order)
				}
				dieAt(t, dir, moment+" "+c.request)
				out := goOn(t, dir)
				assertTold(t, out)
				assertRefundedOnce(t, dir)
				if resolution != "" && !strings.Contains(out, resolution) {
					t.Errorf("nothing says %q:\n%s", resolution, out)
				}
			})
		}
	}
}

// dieAt runs a demo in a child process that dies at the moment.
func dieAt(t *testing.T, dir, moment string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	test := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestDemoThatDies$", "-test.count=1")
	test.Env = append(os.Environ(), envDie+"="+moment, "DEMO_DIR="+dir)
	if out, err := test.CombinedOutput(); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("it did not die at %s: %v\n%s", moment, err, out)
	}
}

func goOn(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: dir, Out: &out, Errs: io.Discard}); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	return out.String()
}

// TestDemoThatDies is the child process that dies, and no test by itself.
func TestDemoThatDies(t *testing.T) {
	moment, request, asked := strings.Cut(os.Getenv(envDie), " ")
	if !asked {
		return // it runs only as a child process of TestDemoSurvivesKillInFlight
	}
	die := func(shop http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requested(t, r) != request {
				shop.ServeHTTP(w, r)
				return
			}
			if moment == dieDone {
				shop.ServeHTTP(httptest.NewRecorder(), r)
			}
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		})
	}
	err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: os.Getenv("DEMO_DIR"), Out: io.Discard, Errs: os.Stderr, Around: die})
	t.Fatalf("it did not die: %v", err)
}

// requested formats a request as in envDie, and leaves its body readable for the shop.
func requested(t *testing.T, r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if strings.HasPrefix(r.RequestURI, sample.SettlementPath+"/") {
		return r.Method + " " + sample.SettlementPath
	}
	return strings.TrimSpace(r.Method + " " + r.RequestURI + " " + orderOf(string(body)))
}

// TestDemoSettlesWhatAStopCutOff: a shop that hangs leaves a refund with an unknown outcome, also
// without a kill: the service stops within its grace, and the next demo reconciles the refund.
func TestDemoSettlesWhatAStopCutOff(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	hang := func(shop http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				shop.ServeHTTP(w, r)
				return
			}
			shop.ServeHTTP(httptest.NewRecorder(), r)
			cancel()
			<-r.Context().Done()
		})
	}
	if err := demo.Run(ctx, demoParts(), demo.Options{Directory: dir, Out: io.Discard, Errs: io.Discard, Around: hang}); err == nil {
		t.Error("it was not stopped")
	}
	out := goOn(t, dir)
	assertTold(t, out)
	assertRefundedOnce(t, dir)
	if !strings.Contains(out, "settled       by the shop's word") {
		t.Errorf("it isn't settled by the shop:\n%s", out)
	}
}
