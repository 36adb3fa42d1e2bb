package models

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

var modelTable = service.Columns[countersign.Model]{
	Heading: []string{"id", "name", "revision", "suspended", "updated"},
	Row: func(m countersign.Model) []string {
		return []string{m.ID, m.Name, words.Number(m.Revision), words.Yes(m.Suspended), words.Moment(m.UpdatedAt)}
	},
}

func printModel(w io.Writer, m *countersign.Model) {
	d := &m.Document
	terminal.Facts(w, [2]string{"model", m.ID}, [2]string{"name", m.Name}, [2]string{"revision", words.Number(m.Revision)}, [2]string{"suspended", words.Yes(m.Suspended)}, [2]string{"retired", words.Yes(m.Retired)},
		[2]string{"description", d.Description}, [2]string{"agent", d.Agent.Name + ", " + d.Agent.Role}, [2]string{"goal", d.Agent.Goal},
		[2]string{"may", d.Scope.AllowedActions}, [2]string{"limits", d.Scope.Limits}, [2]string{"asks when", d.Scope.AskUserWhen},
		[2]string{"size", fmt.Sprintf("%d states, %d transitions, %d actions, %d variables", len(d.States), len(d.Transitions), len(d.Actions), len(d.Variables))},
		[2]string{"created", words.Moment(m.CreatedAt)}, [2]string{"updated", words.Moment(m.UpdatedAt)})
	fmt.Fprintln(w)
	terminal.Table(w, []string{"scenario", "name", "expected state", "expected result"}, service.Rows(d.Scenarios, func(s countersign.Scenario) []string {
		return []string{s.ID, s.Name, s.ExpectedStateID, s.ExpectedResult}
	}))
}

// Put is the command `models put`.
type Put struct {
	File     string `arg:"" help:"An AgentModel or a ModelWrite as JSON (see /docs/api/types at the service); - is standard input."`
	Revision int64  `help:"Update this stored revision, which must be the current one; else the file's expectedRevision." placeholder:"N"`
	service.Asking
}

// Run stores the model under the id in the document.
func (p *Put) Run(t *terminal.Terminal) error {
	w, err := p.read(t)
	if err != nil {
		return err
	}
	w.ExpectedRevision = service.Revision(p.Revision, w.ExpectedRevision)
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.Model, error) {
		saved, err := c.SaveModel(t.Context, w.Document.ID, w)
		return saved, service.WithRevision(err)
	}, func(out io.Writer, m *countersign.Model) {
		fmt.Fprintf(out, "saved %s, revision %d%s\n", m.ID, m.Revision, flaws(&w.Document))
	})
}

// flaws warns that a saved model has errors. Saving accepts it; its content is validated
// where it is used.
func flaws(m *countersign.AgentModel) string {
	n := len(model.Validate(m).Errors)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", INVALID: %d errors; 'countersign models validate FILE' names them", n)
}

// read accepts the bare document, a PUT body, or the service's answer.
func (p *Put) read(t *terminal.Terminal) (w countersign.ModelWrite, err error) {
	text, err := typed.ReadText(t, p.File)
	if err != nil {
		return w, err
	}
	if err = exactjson.Check(text); err == nil {
		members, _ := countersign.RawValue(string(text)).Object()
		if _, wrapped := members["document"]; wrapped {
			err = exactjson.Decode(text, &w)
		} else {
			err = exactjson.Decode(text, &w.Document)
		}
	}
	if err != nil {
		return w, terminal.Unusablef("%s: %v", p.File, err)
	}
	return w, nil
}
