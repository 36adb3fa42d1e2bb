package projects

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// WhatIf is the command `projects what-if`.
type WhatIf struct {
	ID   string `arg:"" help:"The project's id."`
	File string `arg:"" optional:"" help:"WhatIfRequest as JSON: capability, last, and the approval, approvalRules or budgets to try; - is standard input."`

	Change     string `help:"Play the gate that this proposed change asks for, in place of a file." placeholder:"ID"`
	Capability string `help:"With --change: the capability, where it gives several another gate." placeholder:"NAME"`
	Last       int64  `help:"With --change: so many LIVE runs, the newest, 1 to 1000." default:"1000"`
	service.Asking
}

// Run plays another gate over past runs. It changes nothing.
func (p *WhatIf) Run(t *terminal.Terminal) error {
	if (p.File == "") == (p.Change == "") {
		return terminal.Unusablef("name a file with the gate to try, or a proposed change with --change")
	}
	w := countersign.WhatIfRequest{ChangeID: p.Change, Capability: p.Capability, Last: p.Last}
	if p.Change == "" {
		if err := typed.ReadDocument(t, p.File, &w); err != nil {
			return err
		}
	}
	return service.ShowRecord(t, p.Asking, func(c *client.Client) (*countersign.WhatIf, error) { return c.WhatIf(t.Context, p.ID, w) }, printPlayed)
}

func printPlayed(w io.Writer, f *countersign.WhatIf) {
	row := func(name string, c countersign.WhatIfCounts) []string {
		return []string{name, words.Number(c.Sent), words.Number(c.Asked), words.Number(c.Denied)}
	}
	fmt.Fprintf(w, "%d runs played; nothing is changed.\n", f.Played)
	terminal.Table(w, []string{"", "sent unasked", "a person asked", "denied"}, [][]string{row("today", f.Today), row("then", f.Then)})
	if len(f.Loosened) == 0 {
		return
	}
	fmt.Fprintf(w, "%d would have gone out unasked that a person rejected:\n", len(f.Loosened))
	rows := [][]string{}
	for _, l := range f.Loosened {
		rows = append(rows, []string{l.RunID, words.Called(l.DecidedBy, l.DecidedByName), words.Doubted(l.Reason), words.Doubted(words.Value(countersign.ObjectValue(l.Inputs)))})
	}
	terminal.Table(w, []string{"run", "rejected by", "because", "inputs"}, rows)
}
