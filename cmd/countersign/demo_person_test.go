package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/tools/demo"
	"github.com/countersign/countersign/internal/tools/sample"
)

// mute is a shop that doesn't say what became of a key, so that a person has to.
func mute(shop http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.RequestURI, sample.SettlementPath+"/") {
			http.Error(w, `{"error":"out of order"}`, http.StatusServiceUnavailable)
			return
		}
		shop.ServeHTTP(w, r)
	})
}

func TestDemoAsksThePersonAtTheTerminal(t *testing.T) {
	var out bytes.Buffer
	person := strings.NewReader("\nperhaps\ny\ny it came back on the ninth day\ny this one too\ny it is covered\ny it still is\ny and so did this one\n")
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: &out, Errs: io.Discard, Person: person}); err != nil {
		t.Error(err)
	}
	assertTold(t, out.String())
	if n := strings.Count(out.String(), "approve? [y/n] and the reason: "); n != 8 {
		t.Errorf("it asks %d times for a decision", n)
	}
	if n := strings.Count(out.String(), "did it happen? [y/n] and what shows it: "); n != 0 {
		t.Errorf("it asks %d times what happened", n)
	}
	for _, reason := range []string{"it came back on the ninth day", "this one too", "it is covered", "it still is", "and so did this one"} {
		if !strings.Contains(out.String(), fmt.Sprintf("approved      by mara@marlow.example: %q", reason)) {
			t.Errorf("the reason %q is missing in\n%s", reason, &out)
		}
	}
}

// TestDemoAsksThePersonWhatTheShopDoesNotSay: the person looks at the probe, and says what happened.
func TestDemoAsksThePersonWhatTheShopDoesNotSay(t *testing.T) {
	var out bytes.Buffer
	person := strings.NewReader("y one\ny two\nperhaps\nn\ny the shop lists it\ny three\ny four\ny five\n")
	err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: &out, Errs: io.Discard, Person: person, Around: mute})
	if err == nil || !strings.Contains(out.String(), "is settled by the shop's signed word") {
		t.Errorf("%v", err) // what it shows doesn't hold without the shop's word, and it says so
	}
	if n := strings.Count(out.String(), "did it happen? [y/n] and what shows it: "); n != 3 {
		t.Errorf("it asks %d times what happened", n)
	}
	for _, want := range []string{
		"The shop says nothing that counts: ", "Type y or n and, behind it, why: y the shop lists it under this key", "A resolution carries its evidence: y the shop lists it under this key",
		`{"orderId":"A-48537","refunds":[{"id":"rf-2",`, "reconciled    CONFIRMED_COMPLETED by mara@marlow.example\n                 \"the shop lists it\"\n",
		"execute       COMPLETED  confirmed; status: expected",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line says %s in\n%s", want, &out)
		}
	}
}

// TestDemoSendsNothingTwiceUnderAKey: after a wrong no it is another run that asks, under another
// key, and the shop refuses to pay the order twice.
func TestDemoSendsNothingTwiceUnderAKey(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	person := strings.NewReader("y one\ny two\nn I looked in the wrong list\ny once more\ny three\ny four\ny five\n")
	err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: dir, Out: &out, Errs: io.Discard, Person: person, Around: mute})
	if err == nil || !strings.Contains(out.String(), "Nothing is sent a second time under one key, so a new run does it.") {
		t.Errorf("%v\n%s", err, &out)
	}
	sent := map[string]int{}
	for _, e := range logOf(t, dir) {
		if e.Method == http.MethodPost && e.Path == "/refunds" {
			sent[e.Key]++
		}
	}
	for key, n := range sent {
		if n != 1 {
			t.Errorf("%s was sent %d times", key, n)
		}
	}
	assertRefundedOnce(t, dir)
}

// TestDemoTakesAnswersFromElsewhere: a demo on a terminal without input waits for decisions and a
// resolution from elsewhere, and prints how to send them and the console's pages.
func TestDemoTakesAnswersFromElsewhere(t *testing.T) {
	header := regexp.MustCompile(`-H "@([^"]+)"`)
	post := regexp.MustCompile(`http://\S+/(decision|reconcile)$`)
	var file string
	out := &watchedLines{see: func(line string) {
		line = strings.TrimSpace(line)
		if m := header.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		if address := post.FindString(line); address != "" {
			body := `{"decision":"APPROVED","reason":"seen from elsewhere"}`
			if strings.HasSuffix(address, "/reconcile") {
				body = `{"resolution":"CONFIRMED_COMPLETED","evidence":"the bank's list","output":{"id":"rf-2","status":"succeeded"}}`
			}
			go postTo(t, address, file, body)
		}
	}}
	err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: out, Errs: io.Discard, Person: strings.NewReader(""), Around: mute})
	if err == nil || err.Error() != "demo: what it shows does not hold (1)" { // the shop's word is missing
		t.Error(err)
	}
	told := out.all.String()
	for _, want := range []string{
		`approved +by mara@marlow\.example: "seen from elsewhere"`, `http://\S+/console/approvals/\S+\n`, `http://\S+/console/recovery/run-\S+\n`,
		`reconciled +CONFIRMED_COMPLETED by mara@marlow\.example\n +"the bank's list"\n`, `changed +balance was 80\.00, is 35\.00`,
	} {
		if !regexp.MustCompile(want).MatchString(told) {
			t.Errorf("no line says %s in\n%s", want, told)
		}
	}
}

func postTo(t *testing.T, address, headerFile, body string) {
	header, err := os.ReadFile(headerFile)
	if err != nil {
		t.Error(err)
		return
	}
	r, err := http.NewRequest("POST", address, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	name, v, _ := strings.Cut(strings.TrimSpace(string(header)), ": ")
	r.Header.Set(name, v)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("POST %s is answered with %d", address, res.StatusCode)
	}
}

func TestColourIsRefused(t *testing.T) {
	for pair, want := range map[string]bool{"NO_COLOR=1": true, "NO_COLOR=": false, "TERM=dumb": true, "TERM=xterm": false, "HOME=/": false} {
		if refusesColour(pair) != want {
			t.Errorf("%s: got %v", pair, !want)
		}
	}
}
