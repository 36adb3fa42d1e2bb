package projects

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// AnswerKeys is the command `projects answer-keys`.
type AnswerKeys struct {
	ID   string   `arg:"" help:"The project's id."`
	Keys []string `arg:"" optional:"" help:"The keys that it has from now on: one, or two while it changes; none: answers needn't be signed any more."`
	service.Asking
}

// Run changes the keys by which the project's receiver signs.
func (k *AnswerKeys) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, k.Asking, func(c *client.Client) (*countersign.Project, error) {
		keys := k.Keys
		if keys == nil {
			keys = []string{}
		}
		return c.PutAnswerKeys(t.Context, k.ID, countersign.AnswerKeysWrite{AnswerKeys: keys})
	}, func(w io.Writer, p *countersign.Project) {
		fmt.Fprintf(w, "%s has %d answer keys\n", p.ID, len(p.AnswerKeys))
	})
}
