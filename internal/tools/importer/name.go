package importer

import (
	"fmt"
	"strings"
)

// maxName leaves room for a number within the 128 bytes of a capability's name.
const maxName = 120

// names gives each capability a name of its own. It knows for each name that is
// taken the number to try next after it.
type names map[string]int

// of makes a name of the operationId, which people know; where there is none, or
// it is taken, of method and path.
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

// fitName keeps letters, digits, dot and underscore; all else between them is one
// hyphen. So a name reads the same in a manifest, a table and a shell.
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
