package request

import "github.com/countersign/countersign"

// hiddenSecret stands for a secret in what is shown of a header.
const hiddenSecret = "•••"

// headersOf are the headers of a project's calls that no other part of the request shows
// and that aren't secret: its own, and the user of BASIC. Absent where there are none.
func headersOf(p *countersign.Project) countersign.Value {
	shown := make(map[string]countersign.Value, len(p.Headers)+1)
	for name, value := range p.Headers {
		shown[name] = countersign.String(value)
	}
	if auth := p.EffectiveAuth(); auth.Type == countersign.AuthBasic {
		shown["Authorization"] = countersign.String("Basic " + auth.User + ":" + hiddenSecret)
	}
	if len(shown) == 0 {
		return countersign.Value{}
	}
	return countersign.ObjectValue(shown)
}
