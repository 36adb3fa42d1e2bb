package main

import (
	"slices"
	"strings"
	"testing"
)

// TestHintsAreOfBugsThatThereAre checks the file in the tree.
func TestHintsAreOfBugsThatThereAre(t *testing.T) {
	hints, err := readHints(root)
	if err != nil {
		t.Fatal(err)
	}
	bugs := bugList(t)
	for name := range hints {
		if !slices.ContainsFunc(bugs, func(b *bug) bool { return b.name == name }) {
			t.Errorf("%s names %s, which is no bug any more; -update drops it", hintsFile, name)
		}
	}
}

func TestHintsAreReadAsTheyWereWritten(t *testing.T) {
	want := map[string]hint{
		"b": {"fast", check{"internal/rules/run", "TestX"}},
		"a": {"full", check{".", ""}},
		"c": {"fast-race", check{"test", "TestY"}},
	}
	text := formatHints([]*bug{{name: "a"}, {name: "b"}, {name: "new"}}, want)
	got, err := parseHints(text)
	if err != nil || len(got) != 2 || got["a"] != want["a"] || got["b"] != want["b"] {
		t.Errorf("%s was read as %v, %v", text, got, err)
	}
	if strings.Index(text, "a full") > strings.Index(text, "b fast") {
		t.Errorf("not in the order of the list:\n%s", text)
	}
	for _, wrong := range []string{"a", "a fast", "a slow p TestX", "a fast p TestX TestY"} {
		if got, err := parseHints(wrong); err == nil {
			t.Errorf("%q was read as %v", wrong, got)
		}
	}
}
