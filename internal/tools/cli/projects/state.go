package projects

import (
	"context"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// toggle enables or disables a project at the given revision, else at the current one.
func toggle(t *terminal.Terminal, a service.Asking, id string, w countersign.Toggle, done string,
	ask func(*client.Client, context.Context, string, countersign.Toggle) (*countersign.Project, error)) error {
	return service.ShowRecord(t, a, func(c *client.Client) (*countersign.Project, error) {
		if w.ExpectedRevision == 0 {
			current, err := c.Project(t.Context, id)
			if err != nil {
				return nil, err
			}
			w.ExpectedRevision = current.Revision
		}
		return ask(c, t.Context, id, w)
	}, func(out io.Writer, p *countersign.Project) {
		fmt.Fprintf(out, "%s %s, revision %d\n", done, p.ID, p.Revision)
	})
}
