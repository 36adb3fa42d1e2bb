package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/testing/golden"
)

// document is the page that shows the matrix to people.
var document = filepath.Join("..", "..", "..", "docs", "state-machine.md")

// wantDocument: the page shows what the matrix says.
func wantDocument(t *testing.T, rows [][]cell) {
	t.Helper()
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	page := between(t, string(b), "diagram", diagram(rows))
	page = between(t, page, "moves", table(rows))
	golden.Want(t, document, page, *update)
}

// between replaces what stands between the two comments of a name.
func between(t *testing.T, page, name, text string) string {
	t.Helper()
	begin, end := "<!-- "+name+": written by go test ./internal/rules/run -update -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %q … %q", document, begin, end)
	}
	return before + begin + text + end + after
}

// edge is a move from one status of a run to another.
type edge struct{ from, to countersign.RunStatus }

// diagram draws every move between statuses, with all that causes it.
func diagram(rows [][]cell) string {
	causes := map[edge][]string{}
	for _, c := range slices.Concat(rows...) {
		for _, n := range c.res.Notes {
			if c.err != nil || n.Before == n.After || !strings.HasPrefix(n.Action, "run.") {
				continue
			}
			e := edge{countersign.RunStatus(n.Before), countersign.RunStatus(n.After)}
			if why := cause(c, e); !slices.Contains(causes[e], why) {
				causes[e] = append(causes[e], why)
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> READY: start\n")
	for _, from := range countersign.RunStatuses {
		for _, to := range countersign.RunStatuses {
			if why := causes[edge{from, to}]; why != nil {
				fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, strings.Join(why, "<br/>"))
			}
		}
		if from.IsTerminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", from)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// cause says in a word why a run moved: its error where it ended badly, else
// what happened.
func cause(c cell, e edge) string {
	switch c.event.(type) {
	case run.Resumed:
		if e.to == countersign.RunRunning {
			return "taken"
		}
	case run.SlotGranted:
		return "slot granted"
	}
	switch e.to {
	case countersign.RunWaitingApproval:
		return "approval needed"
	case countersign.RunRecoveryRequired:
		return uncertainBy(c.event)
	case countersign.RunCompleted:
		return completedBy(c.event)
	default:
		code, _, _ := strings.Cut(c.is.Error, ":")
		return code
	}
}

func uncertainBy(e run.Event) string {
	switch e.(type) {
	case run.CancelAsked:
		return "cancel of a side effect"
	case run.Restarted:
		return "restart during a side effect"
	default:
		return "outcome unknown"
	}
}

func completedBy(e run.Event) string {
	switch e.(type) {
	case run.Resumed:
		return "every step simulated"
	case run.Reconciled:
		return "last step confirmed"
	default:
		return "last step verified"
	}
}

// table lists every move of the matrix.
func table(rows [][]cell) string {
	var b strings.Builder
	b.WriteString("| Situation | Event | Run | Steps | Effects |\n|---|---|---|---|---|\n")
	for _, row := range rows {
		name := row[0].situation.name
		for _, c := range row {
			if c.moves() {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, c.column.name, c.status(), c.steps(), c.effects())
				name = ""
			}
		}
	}
	return b.String()
}
