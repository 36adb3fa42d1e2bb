package projects

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Validate validates the rules of a project.
type Validate struct {
	ID     string `arg:"" help:"The project's id."`
	Strict bool   `help:"Exit status 1 for warnings too."`
	service.Asking
}

// Run validates.
func (p *Validate) Run(t *terminal.Terminal) error {
	var found countersign.Validation
	err := service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Validation, error) { return c.ValidateProject(t.Context, p.ID) }, printFindings,
		func(v *countersign.Validation) { found = *v })
	if err == nil && (!found.Valid || p.Strict && len(found.Warnings) > 0) {
		return terminal.StatusError{Status: terminal.ExitFailed}
	}
	return err
}

func printFindings(w io.Writer, v *countersign.Validation) {
	for _, f := range append(v.Errors, v.Warnings...) {
		fmt.Fprintf(w, "%s %s: %s\n", f.Code, f.Path, words.Plain(f.Message))
	}
	fmt.Fprintf(w, "%d errors, %d warnings\n", len(v.Errors), len(v.Warnings))
}

// groupsOf are the groups of a rule, and to whom it escalates.
func groupsOf(r countersign.ApprovalRule) string {
	text := strings.Join(r.Groups, ", ")
	if r.Escalate != nil {
		text += "; after " + r.Escalate.After + " " + strings.Join(r.Escalate.Groups, ", ")
	}
	return text
}

// ruleRows has a table row for each approval rule of a project.
func ruleRows(p *countersign.Project) (out [][]string) {
	for _, c := range p.Capabilities {
		for _, r := range c.ApprovalRules {
			when, err := countersign.ValueOf(r.When)
			if err != nil {
				continue // never fails for a value that was read from JSON
			}
			out = append(out, []string{c.Name, r.Then, words.Number(r.Approvals), groupsOf(r), r.Reason, words.Value(when)})
		}
	}
	return out
}
