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
	person := strings.NewReader("\nperhaps\ny\ny it came back on the ninth day\ny and so did this one\n")
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: &out, Errs: io.Discard, Person: person}); err != nil {
		t.Error(err)
	}
	assertTold(t, out.String())
	if n := strings.Count(out.String(), "approve? [y/n] and the reason: "); n != 5 {
		t.Errorf("it asks %d times", n)
	}
	for _, reason := range []string{"it came back on the ninth day", "and so did this one"} {
		if !strings.Contains(out.String(), fmt.Sprintf("approved      by mara@marlow.example: %q", reason)) {
			t.Errorf("the reason %q is missing in\n%s", reason, &out)
		}
	}
}

// TestDemoTakesADecisionFromElsewhere: a demo on a terminal without input waits for a decision from
// elsewhere, and prints how to send one.
func TestDemoTakesADecisionFromElsewhere(t *testing.T) {
	header := regexp.MustCompile(`-H "@([^"]+)"`)
	decision := regexp.MustCompile(`http://\S+/approvals/\S+/decision`)
	var file string
	out := &watchedLines{see: func(line string) {
		if m := header.FindStringSubmatch(line); m != nil {
			file = m[1]
		}
		if address := decision.FindString(line); address != "" {
			go decideAt(t, address, file)
		}
	}}
	if err := demo.Run(context.Background(), demoParts(), demo.Options{Directory: t.TempDir(), Out: out, Errs: io.Discard, Person: strings.NewReader("")}); err != nil {
		t.Error(err)
	}
	assertTold(t, out.all.String())
	if !strings.Contains(out.all.String(), `approved      by mara@marlow.example: "seen from elsewhere"`) {
		t.Errorf("it doesn't say who decided:\n%s", &out.all)
	}
}

func decideAt(t *testing.T, address, headerFile string) {
	header, err := os.ReadFile(headerFile)
	if err != nil {
		t.Error(err)
		return
	}
	r, err := http.NewRequest("POST", address, strings.NewReader(`{"decision":"APPROVED","reason":"seen from elsewhere"}`))
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
		t.Errorf("the decision is answered with %d", res.StatusCode)
	}
}

func TestColourIsRefused(t *testing.T) {
	for pair, want := range map[string]bool{"NO_COLOR=1": true, "NO_COLOR=": false, "TERM=dumb": true, "TERM=xterm": false, "HOME=/": false} {
		if refusesColour(pair) != want {
			t.Errorf("%s: got %v", pair, !want)
		}
	}
}
