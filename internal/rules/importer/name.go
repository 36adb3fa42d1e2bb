package importer

import (
	"fmt"
	"strings"
)

// maxName leaves space for a number within the 128 bytes of a capability's name.
const maxName = 120

// names makes the names of capabilities unique. For each used name it has the next number to
// append.
type names map[string]int

// of makes a name from the operationId, which people know; if there is none or it is used,
// from method and path.
func (n names) of(o operation) string {
	for _, candidate := range []string{fitName(o.at("operationId").text()), fitName(strings.ToLower(o.method) + o.path)} {
		if candidate != "" && n[candidate] == 0 {
			n[candidate] = 2
			return candidate
		}
	}
	base := fitName(strings.ToLower(o.method) + o.path)
	for {
		name := fmt.Sprintf("%s-%d", base, n[base])
		n[base]++
		if n[name] == 0 {
			n[name] = 2
			return name
		}
	}
}

// fitName keeps letters, digits, dot and underscore, and replaces everything between them by
// one hyphen. So a name needs no quoting in a manifest, a table or a shell.
func fitName(text string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(text) && b.Len() < maxName; i++ {
		c := text[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
		if !plain {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteByte(c)
		gap = false
	}
	return strings.Trim(b.String(), "._-")
}
