package request

import "github.com/countersign/countersign"

// ForProbe takes, by name, the inputs of a step that its probe asks for: those
// of the probe's inputSchema, of its path and of its query list. {resourceId} is
// one of them whether or not the schema declares it.
func ForProbe(probe *countersign.Capability, stepInput map[string]countersign.Value) map[string]countersign.Value {
	input := map[string]countersign.Value{}
	m, err := newMapping(probe)
	if err != nil { // checked at registration
		return input
	}
	for name, v := range stepInput {
		_, declared := probe.InputSchema[name]
		if declared || m.inPath(name) || m.query[name] {
			input[name] = v
		}
	}
	return input
}
