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

	"github.com/countersign/countersign"
)

func TestDecisionIsTypedWithItsReason(t *testing.T) {
	for line, want := range map[string]countersign.Decision{
		"y it is back":        {Decision: countersign.ApprovalApproved, Reason: "it is back"},
		"  YES  it is back  ": {Decision: countersign.ApprovalApproved, Reason: "it is back"},
		"n it isn't, yes? y":  {Decision: countersign.ApprovalRejected, Reason: "it isn't, yes? y"},
		"no never":            {Decision: countersign.ApprovalRejected, Reason: "never"},
		"":                    {}, " ": {}, "y": {}, "n ": {}, "yesterday it came": {}, "approve": {},
	} {
		got, hint := decisionOf(line)
		if asked := want.Reason == ""; asked != (hint != "") || !asked && got != want {
			t.Errorf("%q: got %+v, %q", line, got, hint)
		}
	}
}

func TestDemoAsksThePersonAtTheTerminal(t *testing.T) {
	var out bytes.Buffer
	person := strings.NewReader("\nperhaps\ny\ny it came back on the ninth day\ny and so did this one\n")
	if err := runDemo(context.Background(), demoParts(), demoOptions{directory: t.TempDir(), out: &out, errs: io.Discard, person: person}); err != nil {
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

// A demo whose terminal has nobody at it waits for the decision from elsewhere,
// and prints how it is sent.
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
	if err := runDemo(context.Background(), demoParts(), demoOptions{directory: t.TempDir(), out: out, errs: io.Discard, person: strings.NewReader("")}); err != nil {
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

func TestPrinterColoursWhereItMay(t *testing.T) {
	var plain, coloured bytes.Buffer
	(&printer{w: &plain}).step("refund", countersign.StepCompleted, "done")
	(&printer{w: &coloured, colour: true}).step("refund", countersign.StepCompleted, "done")
	if plain.String() != "   refund        COMPLETED  done\n" {
		t.Errorf("got %q", plain.String())
	}
	if coloured.String() != "   refund        \x1b[32mCOMPLETED\x1b[0m  done\n" {
		t.Errorf("got %q", coloured.String())
	}
}

func TestPrinterBreaksWideJSON(t *testing.T) {
	var out bytes.Buffer
	p := &printer{w: &out}
	p.block(countersign.RawValue(`{"a":"` + strings.Repeat("x", 60) + `","b":"` + strings.Repeat("y", 60) + `"}`))
	p.block(countersign.RawValue(`"` + strings.Repeat("z", 90) + `"`))
	indent := strings.Repeat(" ", 17)
	want := indent + `{"a":"` + strings.Repeat("x", 60) + "\",\n" + indent + `"b":"` + strings.Repeat("y", 60) + "\"}\n" + indent + `"` + strings.Repeat("z", 90) + "\"\n"
	if out.String() != want {
		t.Errorf("got\n%s", &out)
	}
}
