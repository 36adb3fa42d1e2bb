package runs

import (
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Find finds records by what somebody has in hand.
type Find struct {
	Text string `arg:"" help:"An order number, a receiver's reference or another input or answer; the idempotency key of a start; a token's name."`
	service.Asking
}

// Run prints what is found.
func (f *Find) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, f.Asking, func(c *client.Client) (*countersign.SearchResult, error) { return c.Search(t.Context, f.Text) }, func(w io.Writer, found *countersign.SearchResult) {
		terminal.Table(w, []string{"what", "id", "found in", "value", "status", "made"}, service.Rows(found.Items, func(h countersign.SearchHit) []string {
			return []string{h.Kind, h.ID, h.Where, words.Doubted(h.Value), h.Status, words.Moment(h.At)}
		}))
	})
}
