package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/testing/golden"
)

// A scenario is a text: what it shows, its plan, and events, each behind "> ".
// What follows an event is written by the test: all that the event came to. A
// change of it is read as a diff.

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.Want(t, file, played(t, string(b)), *update)
		})
	}
}

// played is the scenario with the trace of every event written anew.
func played(t *testing.T, text string) string {
	t.Helper()
	head, rest, _ := strings.Cut(text, "\n> ")
	w := newWorld(t, parsedPlan(t, head))
	var b strings.Builder
	b.WriteString(head + "\n")
	for event := range strings.SplitSeq(rest, "\n> ") {
		command, _, _ := strings.Cut(event, "\n")
		b.WriteString("> " + command + "\n")
		for _, line := range w.perform(command) {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// parsedPlan reads `plan MODE` and lines such as
//
//	step refund refund input={"amount":5} after=look bind=ref:look.id expect=state~"done"~200
//
// A step depends on the one before; after=- on none.
func parsedPlan(t *testing.T, head string) *countersign.Plan {
	t.Helper()
	mode := ""
	var steps []countersign.Step
	for line := range strings.SplitSeq(head, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "plan":
			mode = words[1]
		case len(words) >= 3 && words[0] == "step":
			steps = append(steps, parsedStep(t, words))
		}
	}
	return order(t, mode, steps...)
}

func parsedStep(t *testing.T, words []string) countersign.Step {
	t.Helper()
	s := countersign.Step{ID: words[1], Capability: words[2]}
	for _, word := range words[3:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "input":
			s.Input = values(t, value)
		case "after":
			s.DependsOn = slices.DeleteFunc(strings.Split(value, ","), func(d string) bool { return d == "-" })
		case "bind":
			name, from, _ := strings.Cut(value, ":")
			step, field, _ := strings.Cut(from, ".")
			if s.InputBindings == nil {
				s.InputBindings = map[string]countersign.Binding{}
			}
			s.InputBindings[name] = countersign.Binding{StepID: step, Field: field}
		case "expect":
			s.Expectation = parsedExpectation(value)
		default:
			t.Fatalf("unknown word %s", word)
		}
	}
	return s
}

func parsedExpectation(text string) *countersign.Expectation {
	field, rest, _ := strings.Cut(text, "~")
	equals, status, _ := strings.Cut(rest, "~")
	code, _ := strconv.ParseInt(status, 10, 64)
	return &countersign.Expectation{Field: field, Equals: countersign.RawValue(equals), StatusCode: code}
}

// perform does what a line says: an event for the run, or a change around it.
func (w *world) perform(command string) []string {
	w.t.Helper()
	verb, rest, _ := strings.Cut(command, " ")
	if w.around(verb, rest) {
		return nil
	}
	was := w.run
	res, err := w.apply(w.eventOf(verb, rest))
	if err != nil {
		return []string{"refused: " + err.Error()}
	}
	return w.trace(was, res)
}

// around changes what stands around the run.
func (w *world) around(verb, rest string) bool {
	w.t.Helper()
	switch verb {
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			w.t.Fatalf("wait: %v", err)
		}
		w.now = w.now.Add(d)
	case "stop":
		w.stopping = true
	case "start":
		w.stopping = false
	case "change":
		w.model.Revision++
	case "suspend":
		w.model.Revision++
		w.model.Suspended = true
	case "disable":
		w.project.Disabled = true
	case "unlist":
		w.listed = false
	case "differ":
		w.waitingApproval().RequestDigest = strings.Repeat("0", 64)
	default:
		return false
	}
	return true
}

func (w *world) eventOf(verb, rest string) run.Event {
	w.t.Helper()
	first, second, _ := strings.Cut(rest, " ")
	switch verb {
	case "take":
		return run.Resumed{}
	case "slot":
		return run.SlotGranted{}
	case "approve":
		return decide(countersign.ApprovalApproved)
	case "reject":
		return decide(countersign.ApprovalRejected)
	case "expire":
		return run.Expired{}
	case "cancel":
		return cancel()
	case "restart":
		return run.Restarted{}
	case "reconcile":
		if second != "" {
			return reconcile(first, values(w.t, second))
		}
		return reconcile(first)
	case "probe":
		p := countersign.ProbeRecord{By: "user:bob@example.com", At: w.now, Capability: "look"}
		if first == "" {
			return run.Probing{Step: w.latest().Step, Probe: p}
		}
		o := answered(number(w.t, first), second)
		p.N, p.Response, p.Output = 1, o.Response, o.Body
		return run.Probed{Step: w.latest().Step, Probe: p}
	case "answer":
		return w.returned(answered(number(w.t, first), second))
	case "not-sent":
		return w.returned(notSent(rest))
	case "unknown":
		return w.returned(unknown(rest))
	}
	w.t.Fatalf("unknown event %s", verb)
	return nil
}

// latest is the latest request that was let out.
func (w *world) latest() *run.Call { return w.calls[len(w.calls)-1] }

func (w *world) returned(o outcome) run.Returned {
	return run.Returned{Step: w.latest().Step, Attempt: w.latest().Attempt, Outcome: o}
}

func number(t fataler, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return n
}
