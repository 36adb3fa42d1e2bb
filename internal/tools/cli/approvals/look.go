package approvals

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/runs"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Look is the command `approvals look`.
type Look struct {
	ID string `arg:"" help:"The approval's id."`
	service.Asking
}

// Run has the state read again, and shows the approval with it.
func (l *Look) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, l.Asking, func(c *client.Client) (*countersign.Approval, error) { return c.LookAgain(t.Context, l.ID) }, printApproval)
}

// stateFacts show the state that an approval is asked for against, and what of it has changed.
func stateFacts(a *countersign.Approval) (facts [][2]string) {
	if a.Superseded {
		facts = append(facts, [2]string{"SUPERSEDED", "another approval was asked for in its place; it lets nothing out"})
	}
	if a.PreviousID != "" {
		facts = append(facts, [2]string{"in place of", a.PreviousID})
	}
	if a.AskedAgain > 0 {
		facts = append(facts, [2]string{"ASKED AGAIN", "the state has changed; " + words.Number(int(a.AskedAgain)+1) + " of at most " + words.Number(countersign.MaxAskedAgain+1)})
	}
	for _, c := range a.Changed {
		facts = append(facts, [2]string{"CHANGED " + words.Plain(c.Field), words.Doubted(words.Value(c.Then)) + " is now " + words.Doubted(words.Value(c.Now))})
	}
	if a.State == nil {
		return facts
	}
	for _, name := range slices.Sorted(maps.Keys(a.State.Values)) {
		facts = append(facts, [2]string{"state " + words.Plain(name), words.Doubted(words.Value(a.State.Values[name]))})
	}
	if a.State.Request != nil {
		facts = append(facts, runs.RequestFacts(a.State.Request, a.State.RequestDigest)...)
	}
	facts = append(facts, [2]string{"state read", a.State.Capability + ", " + words.Moment(a.State.At)}, [2]string{"state digest", a.StateDigest})
	return facts
}
