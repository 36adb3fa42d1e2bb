package request

import "github.com/countersign/countersign"

// ForProbe returns, by name, the inputs of a step that its probe uses: those of the
// probe's inputSchema, path and query list, and resourceId even if the schema does not
// declare it.
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
