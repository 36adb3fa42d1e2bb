package mcp

import (
	"strings"

	"github.com/countersign/countersign"
)

// maxToolName is the length that every client accepts. The protocol allows 128
// characters and dots; most clients' models accept only 64 letters, digits, underscores
// and hyphens. A name of ours is shorter, for clients that put their own before it.
const (
	maxToolName = 64
	maxCutName  = 48
)

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
			byTool[cut(name, maxCutName, byTool)] = name
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

// cut is a name of at most so many characters that no other one has.
func cut(name string, most int, taken map[string]string) string {
	digest, begin := countersign.SHA256Hex([]byte(name)), spelt(name)
	for digits := digestDigits; ; digits++ {
		end := "_" + digest[:min(digits, most-1)]
		fit := begin[:min(len(begin), most-len(end))] + end
		if other, is := taken[fit]; !is || other == name || digits >= most {
			return fit
		}
	}
}
