// Package budgets reads and shows budgets, and says what is used of them.
package budgets

import (
	"fmt"
	"os"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Parse parses the array in a flag, or in the file that the flag names with @.
func Parse(flag, text string) ([]countersign.Budget, error) {
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, terminal.Unusablef("%s: %v", flag, err)
		}
		text = string(content)
	}
	budgets := []countersign.Budget{}
	if err := exactjson.Decode([]byte(text), &budgets); err != nil {
		return nil, terminal.Unusablef("%s: %v", flag, err)
	}
	return budgets, nil
}

// Words are a budget in one line.
func Words(b countersign.Budget) string {
	what := fmt.Sprintf("%d steps", b.Count)
	if b.Sum != "" {
		what = b.Most.Raw() + " of " + b.Sum
	}
	return fmt.Sprintf("%s in %s, beyond it %s: %s", what, b.Window, b.Then, b.Reason)
}
