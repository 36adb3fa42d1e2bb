package manual

import (
	"fmt"
	"strings"
)

// programs is the index for programs (llmstxt.org): what this is, and the pages as
// Markdown.
func (b *builder) programs() []byte {
	base := strings.TrimRight(b.cfg.BaseURL, "/")
	byAddress := map[string]document{}
	for name, d := range b.pages {
		byAddress[address(name)] = d
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Countersign\n\n> %s\n", b.pages[b.cfg.Index].lead)
	for _, s := range b.nav {
		fmt.Fprintf(&out, "\n## %s\n\n", s.Title)
		for _, e := range s.Entries {
			if d, isPage := byAddress[e.Href]; isPage {
				fmt.Fprintf(&out, "- [%s](%s%s/%s): %s\n", e.Word, base, Prefix, d.path, d.lead)
			} else {
				fmt.Fprintf(&out, "- [%s](%s%s)\n", e.Word, base, e.Href)
			}
		}
	}
	fmt.Fprintf(&out, "\n## For programs\n\n- [OpenAPI document](%s/v1/openapi.json): every operation, its fields and its refusals\n- [Integration contract](%s/v1/integrations/contract): signing, headers, limits and error codes; needs a token\n- MCP: %s/mcp/agents/{agentId}, streamable HTTP, one server an agent; needs an OPERATOR token\n", base, base, base)
	return []byte(out.String())
}
