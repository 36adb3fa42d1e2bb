package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/tools/cli"
)

var update = flag.Bool("update", false, "write the generated part of docs/command-line.md anew")

const generated = "<!-- What follows is made by: go test ./cmd/countersign -run Reference -update -->\n"

// TestReferenceIsOfTheCommandsThereAre: docs/command-line.md names exactly the commands, arguments
// and flags of the program.
func TestReferenceIsOfTheCommandsThereAre(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "command-line.md")
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written, _, found := strings.Cut(string(have), generated)
	if !found {
		t.Fatalf("%s has no line %s", path, generated)
	}
	want := written + generated + reference(commandLine(t).Model.Node)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(have) {
		t.Error("docs/command-line.md is not of the commands there are; go test ./cmd/countersign -run Reference -update")
	}
}

// TestEveryCommandHasAnExampleThatCanBeGiven: the parser accepts each example.
func TestEveryCommandHasAnExampleThatCanBeGiven(t *testing.T) {
	parser := commandLine(t)
	for _, n := range parser.Model.Leaves(true) {
		chosen, err := parser.Parse(words(cli.Example(n)))
		if err != nil || chosen.Selected() == nil || chosen.Selected().FullPath() != n.FullPath() {
			t.Errorf("%s: the example %q: %v", n.FullPath(), cli.Example(n), err)
		}
	}
}

// TestHelpOfEveryCommandShowsItsExample and is at most a page long.
func TestHelpOfEveryCommandShowsItsExample(t *testing.T) {
	for _, n := range commandLine(t).Model.Leaves(true) {
		var out bytes.Buffer
		args := append(strings.Fields(strings.TrimPrefix(n.FullPath(), "countersign ")), "--help")
		if status := run(t.Context(), args, nil, &out, io.Discard); status != 0 || !strings.Contains(out.String(), "Example:\n  countersign "+cli.Example(n)) {
			t.Errorf("%v: %d\n%s", args, status, &out)
		}
	}
}

func commandLine(t *testing.T) *kong.Kong {
	t.Helper()
	parser, err := newParser(io.Discard, io.Discard, func(int) { t.Error("the parser wants to exit") })
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// words splits an example as a shell does, as far as the examples need.
func words(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// reference has a section for each command, below its group.
func reference(app *kong.Node) string {
	var b strings.Builder
	group := ""
	for _, n := range app.Leaves(true) {
		if g := n.ClosestGroup(); g != nil && g.Key != group {
			group = g.Key
			fmt.Fprintf(&b, "\n## %s commands\n", group)
		}
		section(&b, n)
	}
	return b.String()
}

func section(b *strings.Builder, n *kong.Node) {
	path := strings.TrimPrefix(n.FullPath(), "countersign ")
	fmt.Fprintf(b, "\n### %s\n%s\n", path, n.Help)
	if n.Detail != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(n.Detail))
	}
	fmt.Fprintf(b, "\n```\ncountersign %s\n```\n", cli.Example(n))
	rows := [][2]string{}
	for _, p := range n.Positional {
		rows = append(rows, [2]string{p.Summary(), p.Help})
	}
	for _, f := range n.Flags {
		if f.Group == nil || f.Group.Key != "Connection" { // documented once, above
			rows = append(rows, [2]string{f.String(), f.Help})
		}
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| | |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| `%s` | %s |\n", r[0], strings.ReplaceAll(r[1], "|", "\\|"))
	}
}
