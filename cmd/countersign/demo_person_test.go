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
)

func TestDemoAsksThePersonAtTheTerminal(t *testing.T) {
	var out bytes.Buffer
	person := strings.NewReader("\nperhaps\ny\ny it came back on the ninth day\ny this one too\nperhaps\nn\ny the shop lists it\ny and so did this one\n")
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: &out, Errs: io.Discard, Person: person}); err != nil {
		t.Error(err)
	}
	assertTold(t, out.String())
	if n := strings.Count(out.String(), "approve? [y/n] and the reason: "); n != 6 {
		t.Errorf("it asks %d times for a decision", n)
	}
	if n := strings.Count(out.String(), "did it happen? [y/n] and what shows it: "); n != 3 {
		t.Errorf("it asks %d times what happened", n)
	}
	for _, want := range []string{
		"Type y or n and, behind it, why: y the shop lists it under this key", "A resolution carries its evidence: y the shop lists it under this key",
		"reconciled    CONFIRMED_COMPLETED by mara@marlow.example\n                 \"the shop lists it\"\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line says %s in\n%s", want, &out)
		}
	}
	for _, reason := range []string{"it came back on the ninth day", "this one too", "and so did this one"} {
		if !strings.Contains(out.String(), fmt.Sprintf("approved      by mara@marlow.example: %q", reason)) {
			t.Errorf("the reason %q is missing in\n%s", reason, &out)
		}
	}
}

// TestDemoSendsAgainOnlyWhatAPersonSaysDidNotHappen: a no is a new approval of the same request
// under the same key, and the shop still pays once.
func TestDemoSendsAgainOnlyWhatAPersonSaysDidNotHappen(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	person := strings.NewReader("y one\ny two\nn I looked in the wrong list\ny once more\ny three\n")
	err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: dir, Out: &out, Errs: io.Discard, Person: person})
	if err == nil || !strings.Contains(out.String(), "a request whose answer is lost isn't sent again; the shop received 2") {
		t.Errorf("%v\n%s", err, &out)
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
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: out, Errs: io.Discard, Person: strings.NewReader("")}); err != nil {
		t.Error(err)
	}
	told := out.all.String()
	assertTold(t, told)
	for _, want := range []string{
		`approved +by mara@marlow\.example: "seen from elsewhere"`, `http://\S+/console/approvals/\S+\n`, `http://\S+/console/recovery/run-\S+\n`,
		`reconciled +CONFIRMED_COMPLETED by mara@marlow\.example\n +"the bank's list"\n`,
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
