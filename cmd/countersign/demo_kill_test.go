package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// atOnce is how many demos are killed side by side.
const atOnce = 2

// A demo that is killed after any of its lines and begun again comes to the same
// end, and the refund is made once.
func TestDemoSurvivesKillAfterEveryLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a demo twice for each line that it prints")
	}
	binary := filepath.Join(t.TempDir(), "countersign")
	if built, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, built)
	}
	lines := strings.Count(string(finish(t, binary, t.TempDir())), "\n")
	if lines < len(demoLines) {
		t.Fatalf("it prints %d lines only", lines)
	}
	slots := make(chan struct{}, atOnce)
	for n := range lines {
		t.Run("line "+strconv.Itoa(n+1), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			dir := t.TempDir()
			killAfter(t, binary, dir, n+1)
			assertTold(t, string(finish(t, binary, dir)))
			assertRefundedOnce(t, dir)
		})
	}
}

// killAfter runs a demo and kills it, with SIGKILL, after its n-th line.
func killAfter(t *testing.T, binary, dir string, n int) {
	t.Helper()
	demo := exec.Command(binary, "demo", "--yes", "--store", dir)
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); n > 0 && s.Scan(); n-- {
	}
	_ = demo.Process.Kill()
	_ = demo.Wait() // of course it failed
}

// patience is how long a demo may take; one that hangs shows where.
const patience = time.Minute

// finish runs a demo to its end.
func finish(t *testing.T, binary, dir string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	demo := exec.CommandContext(ctx, binary, "demo", "--yes", "--store", dir)
	demo.Cancel = func() error { return demo.Process.Signal(syscall.SIGQUIT) }
	var errs bytes.Buffer
	demo.Stderr = &errs
	out, err := demo.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, &errs)
	}
	return out
}

func assertRefundedOnce(t *testing.T, dir string) {
	t.Helper()
	if made := refundsIn(logOf(t, dir)); len(made) != 1 {
		t.Errorf("refunds were made under %d keys: %v", len(made), made)
	} else {
		for key, n := range made {
			if n != 1 {
				t.Errorf("%s was acted on %d times", key, n)
			}
		}
	}
}

// The moments of a request at which the process dies in the tests below: the shop
// has not looked at it, or has done it and not answered.
const (
	dieArrived = "arrived"
	dieDone    = "done"
)

// envDie makes TestDemoThatDies die at a moment and a request: "done POST /refunds".
const envDie = "COUNTERSIGN_TEST_DEMO_DIES"

// A demo that is killed with a request in flight comes to the same end too: a
// read is asked again, and what became of a side effect is found out first.
func TestDemoSurvivesKillInFlight(t *testing.T) {
	for _, c := range []struct{ request, arrived, done string }{
		{"GET /health", "", ""},
		{"GET /orders/A-48213", "", ""},
		{"POST /refunds", "CONFIRMED_NOT_EXECUTED", "CONFIRMED_COMPLETED"},
		{"PUT /orders/A-48213/notice", "CONFIRMED_NOT_EXECUTED", "CONFIRMED_COMPLETED"},
		{"POST /returns/R-7731/close", "CONFIRMED_NOT_EXECUTED", "CONFIRMED_NOT_EXECUTED"}, // it isn't closed either way
		{"GET /refunds?orderId=A-48213", "", ""},                                           // the probe, in a demo that recovers
	} {
		for moment, resolution := range map[string]string{dieArrived: c.arrived, dieDone: c.done} {
			t.Run(moment+" "+c.request, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if strings.Contains(c.request, "?") {
					dieAt(t, dir, dieDone+" POST /refunds")
				}
				dieAt(t, dir, moment+" "+c.request)
				out := goOn(t, dir)
				assertTold(t, out)
				assertRefundedOnce(t, dir)
				if resolution != "" && !strings.Contains(out, "reconciled    "+resolution+" by mara@marlow.example") {
					t.Errorf("it isn't reconciled as %s:\n%s", resolution, out)
				}
			})
		}
	}
}

// dieAt runs a demo in a process of its own that dies at the moment.
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
	if err := runDemo(context.Background(), demoOptions{directory: dir, out: &out, errs: io.Discard}); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	return out.String()
}

// TestDemoThatDies is the process that dies, and no test of its own.
func TestDemoThatDies(t *testing.T) {
	moment, request, asked := strings.Cut(os.Getenv(envDie), " ")
	if !asked {
		t.Skip("it runs as a process of TestDemoSurvivesKillInFlight")
	}
	die := func(shop http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method+" "+r.RequestURI != request {
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
	err := runDemo(context.Background(), demoOptions{directory: os.Getenv("DEMO_DIR"), out: io.Discard, errs: os.Stderr, around: die})
	t.Fatalf("it did not die: %v", err)
}

// A shop that hangs leaves a refund that nobody knows of, without any kill: the
// service stops within its grace, and the next demo settles it.
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
	if err := runDemo(ctx, demoOptions{directory: dir, out: io.Discard, errs: io.Discard, around: hang}); err == nil {
		t.Error("it was not stopped")
	}
	out := goOn(t, dir)
	assertTold(t, out)
	assertRefundedOnce(t, dir)
	if !strings.Contains(out, "reconciled    CONFIRMED_COMPLETED") || !strings.Contains(out, "/refunds?orderId=A-48213") {
		t.Errorf("it isn't settled by a probe:\n%s", out)
	}
}
