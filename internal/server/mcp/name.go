package mcp

import (
	"strings"

	"github.com/countersign/countersign"
)

// maxToolName is what every client takes. The protocol allows 128 and a dot besides;
// the models behind most clients take 64 letters, digits, underscores and hyphens.
const maxToolName = 64

// statusTool is the tool that every agent has beside its capabilities.
const statusTool = "run_status"

// toolNames gives each capability's tool. A name that fits is the tool's. In any other
// one, each character that doesn't fit becomes an underscore, and digits of the whole
// name's SHA-256 follow: a tool keeps its name whatever other capabilities come and go.
func toolNames(capabilities []countersign.Capability) map[string]string {
	byTool := map[string]string{}
	for i := range capabilities {
		if name := capabilities[i].Name; fits(name) {
			byTool[name] = name
		}
	}
	for i := range capabilities {
		if name := capabilities[i].Name; !fits(name) {
			byTool[fitted(name, byTool)] = name
		}
	}
	return byTool
}

func fits(name string) bool {
	return name != "" && len(name) <= maxToolName && name != statusTool && spelt(name) == name
}

// spelt puts an underscore for each character that doesn't fit.
func spelt(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// digestDigits follow a name that was changed; more of them where it is taken.
const digestDigits = 8

func fitted(name string, taken map[string]string) string {
	digest, begin := countersign.SHA256Hex([]byte(name)), spelt(name)
	for digits := digestDigits; ; digits++ {
		end := "_" + digest[:min(digits, maxToolName-1)]
		tool := begin[:min(len(begin), maxToolName-len(end))] + end
		if other, is := taken[tool]; !is || other == name || digits >= maxToolName {
			return tool
		}
	}
}
