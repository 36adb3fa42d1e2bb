package upgrade

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// incomplete: a team that is saved has steps, and each member says its part.
func incomplete(t *countersign.Team) (out []Notice) {
	if len(t.Steps) == 0 {
		out = append(out, Notice{Kind: "team", ID: t.ID, Where: "steps", Text: "it has none, and is refused when it is sent back; give it a step, or retire it"})
	}
	for i, m := range t.Members {
		if safetext.Blank(m.Role) {
			out = append(out, Notice{Kind: "team", ID: t.ID, Where: fmt.Sprintf("members[%d].role", i), Text: "it is blank, and the team is refused when it is sent back; say what part the agent has"})
		}
	}
	return out
}
