package importing

import (
	"fmt"
	"io"

	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/adapter/propose"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// byAdapter writes a proposal as one that an adapter in front of the API serves.
func (a *OpenAPI) byAdapter(t *terminal.Terminal, p *importer.Proposal) error {
	both := propose.Operations(a.Project, p)
	if err := writeBoth(t, both, words.First(a.Out, "."), a.Project, a.Force); err != nil {
		return err
	}
	return a.Print(t, both.Report, func(w io.Writer) {
		printBoth(w, both)
		for _, line := range both.Report.FillIn {
			fmt.Fprintf(w, "- fill in, in adapter.yaml: %s\n", words.Plain(line))
		}
	})
}
