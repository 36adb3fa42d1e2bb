package request

import (
	"slices"

	"github.com/countersign/countersign"
)

// ForProbe takes, by name, the inputs of a step that its probe asks for: those
// of the probe's inputSchema or, without one, those of its path and query.
func ForProbe(probe *countersign.Capability, stepInput map[string]countersign.Value) map[string]countersign.Value {
	var names []string
	if parts, err := parsePath(probe.Path); err == nil { // checked at registration
		for _, p := range parts {
			names = append(names, p.name)
		}
	}
	if probe.Request != nil {
		names = append(names, probe.Request.Query...)
	}
	input := map[string]countersign.Value{}
	for name, v := range stepInput {
		_, declared := probe.InputSchema[name]
		if declared || probe.InputSchema == nil && slices.Contains(names, name) {
			input[name] = v
		}
	}
	return input
}
