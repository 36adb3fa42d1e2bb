package mcp

import (
	"strings"

	"github.com/countersign/countersign"
)

// maxToolName is the length that every client accepts. The protocol allows 128
// characters and dots; most clients' models accept only 64 letters, digits, underscores
// and hyphens.
const maxToolName = 64

// statusTool is the tool that every agent has besides its capabilities.
const statusTool = "run_status"

// toolNames maps tools to capabilities. A valid name is used as it is. In others each
// invalid character becomes an underscore, and digits of the name's SHA-256 are
// appended: so a tool keeps its name when other capabilities change.
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

// spelt replaces invalid characters by underscores.
func spelt(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// digestDigits is how many digits are appended first; more follow on a collision.
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
