package docs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofTheMachine are commands of whoever has the machine, and helpers of the command line.
var ofTheMachine = []string{
	"serve", "demo", "shop", "token check", "token issue", "backup", "check-backup", "restore", "store copy", "store reopen", "store restored", "doctor", "files", "version", "completion", "witness serve",
	"adapter serve", "adapter check", "adapter resolve", "adapter restored",
}

// TestTheTableOfWaysNamesEveryOperationAndEveryCommand: what is missing somewhere is said.
func TestTheTableOfWaysNamesEveryOperationAndEveryCommand(t *testing.T) {
	table := page(t, "reference/ways.md")
	routes, err := os.ReadFile("../internal/server/httpapi/routes.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(table, -1)
	has := func(word string) bool {
		return slices.ContainsFunc(named, func(m []string) bool { return m[1] == word })
	}
	operations := regexp.MustCompile(`id: "([a-zA-Z]+)", tag:`).FindAllStringSubmatch(string(routes), -1)
	if len(operations) < 50 {
		t.Fatalf("%d operations are found", len(operations))
	}
	for _, op := range operations {
		if !has(op[1]) {
			t.Errorf("the operation %s has no row", op[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (.+)$`).FindAllStringSubmatch(page(t, "command-line.md"), -1) {
		if command := strings.TrimSpace(m[1]); !slices.Contains(ofTheMachine, command) && !has(command) {
			t.Errorf("the command %s has no row", command)
		}
	}
}
