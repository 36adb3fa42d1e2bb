package cli

import (
	"fmt"
	"io"

	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/adapter/propose"
)

// byAdapter writes a proposal as one that an adapter in front of the API serves.
func (a *ImportOpenAPI) byAdapter(t *Terminal, p *importer.Proposal) error {
	both := propose.Operations(a.Project, p)
	if err := writeBoth(t, both, first(a.Out, "."), a.Project, a.Force); err != nil {
		return err
	}
	return a.Print(t, both.Report, func(w io.Writer) {
		printBoth(w, both)
		for _, line := range both.Report.FillIn {
			fmt.Fprintf(w, "- fill in, in adapter.yaml: %s\n", Plain(line))
		}
	})
}
