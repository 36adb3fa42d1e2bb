package upgrade

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/project"
)

// headers: those that receivers take for another method aren't registered any more.
func headers(p *countersign.Project) (out []Notice) {
	for _, name := range project.MethodHeaders(p) {
		out = append(out, Notice{Kind: "project", ID: p.ID, Where: "headers." + name,
			Text: "it asks the receiver for another method than approvers see, and is refused when the project is sent back; make it a capability of that method"})
	}
	return out
}
