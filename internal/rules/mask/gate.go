package mask

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// GateTells reports that a rule, a budget or the title of a capability of a project names a
// sensitive input: what they say of past runs tells something of its values.
func GateTells(p *countersign.Project, c *countersign.Capability) bool {
	h := &Fields{project: p, capability: c, names: namesOf(sensitiveOf(p, c))}
	tells := h.judgesHidden() || h.addsHidden()
	request.Title(c.Title, func(place string) (countersign.Value, bool) {
		tells = tells || h.hidesPath(place)
		return countersign.Value{}, false
	})
	return tells
}
