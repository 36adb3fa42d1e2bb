package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/demo"
	"github.com/countersign/countersign/internal/tools/sample"
)

// demoLines are lines of every complete story, also of one that was killed and continued.
var demoLines = []string{
	`health check|LIVE runs may use it`,
	`returned-in-time +passes`, `too-late +passes`, `date-unknown +passes`, `close-return +passes`,
	`refund +SIMULATED +POST http://127\.0\.0\.1:\d+/refunds`,
	`"amount":\{"\$from":"read-order\.total"\}`,
	`shop's log +0 requests of run-`,
	`Rehearsed\. Nothing was sent; 1 step will ask for approval\.`,
	`read-order +COMPLETED .*status: expected "returned", actual "returned"`,
	`refund +COMPLETED .*status: expected "succeeded", actual "succeeded"`,
	`notify +COMPLETED .*status: expected "sent", actual "sent"`,
	`Completed\. 3 of 3 steps are verified\.`,
	`close-return +FAILED .*status: expected "closed", actual "pending"`,
	`expectation_not_met`,
	`execute +COMPLETED +settled; status: expected "succeeded", actual "succeeded"\n +Completed\. 1 of 1 steps are verified\.\n +shop's log +1 request under run-\S+\.execute\n`,
	`assessor +(PENDING|ADMITTED) +orders\.read, `, `refunder +(PENDING|ADMITTED) +refunds\.create, `, `currency is fixed: "EUR"`,
	`assessor +ADMITTED +revision 1`, `refunder +ADMITTED +revision 1`,
	`says IDLE: the assessor is ONLINE`, `says BUSY: the refunder is BUSY`, `shown and never a gate`,
	`team +returns-desk, revision 1`,
	`read-order +COMPLETED .*\n +by the assessor`,
	`refund +COMPLETED .*\n +by the refunder`,
	`Completed\. 2 of 2 steps are verified\.`,
	`refused +invalid_request\n +inputs\.refund\.currency: the agent's manifest fixes it`, `shop's log +0 requests since`,
	witnesses("the refund of A-48213"),
	witnesses("the refund with the lost answer, of A-48537") + ` +asked +GET /calls/run-\S+\.execute\?sent=\d+\n +the shop +DONE; the answer that was lost is 201\n(?: +\S+\n)+ +settled +by the shop's word, .*\n +[0-9a-f]{64}\n`,
	`Witnesses of the payout from C-2207:\n +approved +by mara@marlow\.example: ".*\n +and let nothing out: balance was 80\.00 then, and 35\.00 when it was looked at again\n +delivered +once: `,
	`\d+ answers? of the shop, signed by the key that the log has for it\n`,
	witnesses("the team's refund of A-48377"),
	`signatures +(\d+) of (\d+) right`,
	`audit log +intact, \d+ records`,
	`kept +\S*refund\.receipt\.json.*, \d+ bytes\n +valid +signed by the key that the service publishes,\n +[0-9a-f]{64}\n +proven +\d+ audit records`, `altered +.* it fails, in the section approvals`,
	`All of it holds\.`,
}

// witnesses are the rows of the evidence for a refund, in order.
func witnesses(of string) string {
	return "Witnesses of " + of + ":\n" +
		` +delivered +once: the shop's log has \d+ requests? under\n.*\n` +
		` +asked by .*\n +approved +by mara@marlow\.example: ".*\n` +
		` +digest +\S+ was approved\n +and is that of the bytes that the shop received\n`
}

// A refund whose run could not tell the customer is followed by a run that does only that.
const alone = "The refund is made, so what is left is done in a run of its own."

var ofThreeSteps = []string{`notify +COMPLETED .*status: expected "sent", actual "sent"`, `Completed\. 3 of 3 steps are verified\.`}

func assertTold(t *testing.T, out string) {
	t.Helper()
	for _, line := range demoLines {
		if strings.Contains(out, alone) && slices.Contains(ofThreeSteps, line) {
			continue
		}
		if !regexp.MustCompile(line).MatchString(out) {
			t.Errorf("no line says %s", line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestDemoTellsItsStory(t *testing.T) {
	var out, errs bytes.Buffer
	t.Setenv("TMPDIR", t.TempDir())
	environ := []string{"SVC_PLATFORM_LISTEN=nonsense", "SVC_PLATFORM_NO_SUCH=1"} // settings for serve, which the demo ignores
	if code := run(context.Background(), []string{"demo", "--yes"}, environ, &out, &errs); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, &errs)
	}
	assertTold(t, out.String())
	for _, want := range []string{
		`The shop answered 200. The answer says pending, not closed; so the run failed.`,
		`{"orderId":"A-48213","amount":249.00,"currency":"EUR"}`,
		`asked by      ines@marlow.example`,
		`the shop's log has 1 request under`, `signatures    12 of 12 right`,
		`execute       RECOVERY_REQUIRED  connection closed before a complete answer`, `{"id":"rf-2","orderId":"A-48537","amount":119.90,"currency":"EUR",`,
		`balance 80.00`, `changed       balance was 80.00, is 35.00`, `Asked again: nothing was sent`,
		`assessor      PENDING `, `refunder      PENDING `,
		`{"orderId":"A-48377","amount":64.50,"currency":"EUR"}`, `currency "EUR" is fixed by the refunder's manifest`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line says %s", want)
		}
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "curl") {
		t.Error("it writes for a terminal where there is none")
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("the temporary store is left: %v", left)
	}
}

func TestDemoGoesOnWhereItWas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	var first, second, errs bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if code := run(context.Background(), []string{"demo", "--yes", "--store", dir}, nil, out, &errs); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, &errs)
		}
	}
	assertTold(t, second.String())
	if !strings.Contains(second.String(), "this is that run, and no second one") {
		t.Errorf("it doesn't say that the runs are there: %s", &second)
	}
	if n := len(logOf(t, dir)); n != 14 { // health check, read, refund, notice, close; the lost refund and the question; the basket, three looks and the payout; the team's read and its refund
		t.Errorf("the shop received %d requests", n)
	}
	assertSecret(t, dir, first.String()+second.String())
}

// assertSecret: only the owner may read demo.json, and none of its secrets is printed or logged.
func assertSecret(t *testing.T, dir, out string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, demo.KeptFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, demo.KeptFile))
	if err != nil {
		t.Fatal(err)
	}
	logged, err := os.ReadFile(filepath.Join(dir, demo.ServiceLog))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Secret, AnswerSeed, AdminToken string
		Operator, Reviewer, Agents     struct{ Token string }
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{kept.Secret, kept.AnswerSeed, kept.AdminToken, kept.Operator.Token, kept.Reviewer.Token, kept.Agents.Token} {
		if secret == "" || strings.Contains(out+string(logged), secret) {
			t.Errorf("a secret is shown: %q", secret)
		}
	}
}

// logOf reads the shop's log.
func logOf(t *testing.T, dir string) (entries []sample.Entry) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, demo.ShopLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for d := json.NewDecoder(f); ; {
		var e sample.Entry
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return entries
		} else if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
}

// refundsIn are the requests that made a refund.
func refundsIn(entries []sample.Entry) (made []sample.Entry) {
	for _, e := range entries {
		if e.Acted() && e.Method == http.MethodPost && e.Path == "/refunds" {
			made = append(made, e)
		}
	}
	return made
}

func TestDemoSaysWhatDoesNotHold(t *testing.T) {
	var out, errs bytes.Buffer
	err := demo.Run(context.Background(), demoParts(), demo.Options{
		Directory: t.TempDir(), Out: &out, Errs: &errs, Person: strings.NewReader("n the order isn't back\ny this one is\ny it is covered\ny it still is\ny this one is\n"),
	})
	if err == nil || err.Error() != "demo: what it shows does not hold (2)" {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		`rejected      by mara@marlow.example: "the order isn't back"`,
		`approval_rejected: mara@marlow.example rejected it`,
		`approved      by mara@marlow.example: "this one is"`,
		"What does not hold:", "the refund's run completes; it is FAILED", "the refund is made once; the shop made it 0 times",
		"audit log     intact",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line says %s in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "All of it holds") {
		t.Error("it says that all holds")
	}
}

func TestDemoSaysThatTheShopsPortIsTaken(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	taken := l.Addr().String()
	if err := os.WriteFile(filepath.Join(dir, demo.KeptFile), []byte(`{"secret":"s","answerSeed":"`+strings.Repeat("5e", 32)+`","adminToken":"t","shopAddress":"`+taken+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	assertRefuses(t, dir, "demo: "+taken+" is taken, where the shop of "+dir+" is registered: end what uses it (another demo?), or take another directory")
}

// TestDemoSaysWhatTheShopAnswered where it can't go on, and where the log is.
func TestDemoSaysWhatTheShopAnswered(t *testing.T) {
	for request, want := range map[string]string{
		"GET /health":             "the shop is not healthy: the receiver answered 503",
		"GET /calls GET /refunds": "the shop doesn't say what happened: it answered 503",
	} {
		dir := t.TempDir()
		broken := func(shop http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked, _, _ := strings.Cut(strings.TrimPrefix(r.RequestURI, "/"), "/"); strings.Contains(request+" ", r.Method+" /"+strings.SplitN(asked, "?", 2)[0]+" ") {
					http.Error(w, `{"error":"out of order"}`, http.StatusServiceUnavailable)
					return
				}
				shop.ServeHTTP(w, r)
			})
		}
		err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: dir, Out: io.Discard, Errs: io.Discard, Around: broken})
		if want := "demo: " + want + "; the service's log is " + filepath.Join(dir, demo.ServiceLog); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", request, err, want)
		}
	}
}

func TestDemoSaysThatTheStoreIsInUse(t *testing.T) {
	dir := t.TempDir()
	st, err := sqlite.Open(context.Background(), filepath.Join(dir, demo.StoreDir))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	assertRefuses(t, dir, "another process uses the store at")
}

func TestDemoRefusesAStoreThatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	if code := run(context.Background(), []string{"demo", "--yes", "--store", dir}, nil, io.Discard, io.Discard); code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	if err := os.Remove(filepath.Join(dir, demo.KeptFile)); err != nil {
		t.Fatal(err)
	}
	assertRefuses(t, dir, "doesn't know the demo's token")
	if err := os.WriteFile(filepath.Join(dir, demo.KeptFile), []byte(`{"secret":`), 0o600); err != nil {
		t.Fatal(err)
	}
	assertRefuses(t, dir, demo.KeptFile+": unexpected end of JSON input; take another directory")
	if err := os.WriteFile(filepath.Join(dir, demo.KeptFile), []byte(`{"secret":"s","adminToken":"t","shopAddress":"127.0.0.1:1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	assertRefuses(t, dir, filepath.Join(dir, demo.KeptFile)+" is of a demo of another release; take another directory")
}

// assertRefuses: the demo prints one clear line and exits with 1.
func assertRefuses(t *testing.T, dir, why string) {
	t.Helper()
	var errs bytes.Buffer
	code := run(context.Background(), []string{"demo", "--yes", "--store", dir}, nil, io.Discard, &errs)
	if code != cli.ExitFailed || !strings.Contains(errs.String(), why) || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit %d: %s", code, &errs)
	}
}

func TestDemoStopsWhenAskedTo(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	out := &watchedLines{see: func(line string) {
		if strings.Contains(line, "WAITING_APPROVAL") {
			cancel()
		}
	}}
	never, held := io.Pipe() // no input
	defer func() { _ = held.Close() }()
	err := demo.Run(ctx, demoParts(), demo.Options{Directory: dir, Out: out, Errs: io.Discard, Person: never})
	if err == nil || !strings.Contains(err.Error(), "stopped before its end") {
		t.Errorf("got %v", err)
	}
	var rest bytes.Buffer
	if code := run(context.Background(), []string{"demo", "--yes", "--store", dir}, nil, &rest, io.Discard); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	assertTold(t, rest.String())
}

func TestDemoStaysUpWhenKept(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	curl := regexp.MustCompile(`curl -H "@(.*)" (http://\S+/runs/run-\S+)`)
	var status string
	out := &watchedLines{see: func(line string) {
		if m := curl.FindStringSubmatch(line); m != nil {
			header, _ := os.ReadFile(m[1])
			status = statusAt(t, m[2], string(header))
			cancel()
		}
	}}
	if err := demo.Run(ctx, demoParts(), demo.Options{Directory: t.TempDir(), Keep: true, Out: out, Errs: io.Discard}); err != nil {
		t.Error(err)
	}
	if status != string(countersign.RunCompleted) {
		t.Errorf("the run reads as %q", status)
	}
}

func statusAt(t *testing.T, url, header string) string {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	name, v, _ := strings.Cut(strings.TrimSpace(header), ": ")
	r.Header.Set(name, v)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	var seen countersign.Run
	if err := json.NewDecoder(res.Body).Decode(&seen); err != nil {
		t.Error(err)
	}
	return string(seen.Status)
}

// watchedLines calls see with each line as it is printed.
type watchedLines struct {
	all bytes.Buffer
	see func(line string)
}

func (w *watchedLines) Write(b []byte) (int, error) {
	w.all.Write(b)
	w.see(string(b))
	return len(b), nil
}
