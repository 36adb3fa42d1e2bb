package outbound

import (
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// maxSaid is how much of a refusal's body is kept.
const maxSaid = 4 << 10

// said is the beginning of the body of an answer that gives no output, as text: what tells
// a person why a 422 was one, and what a 200 said that can't be read. It is evidence, never an output. The credential is taken
// out as it is out of an output; where it can be read only after some decoding, of a
// text that is no JSON, nothing of the body is kept.
func said(body []byte, secrets masker, whole bool) string {
	text := secrets.without(legible(body), whole)
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "")
	}
	return text
}

// without takes the secrets out of a text that needn't be JSON.
func (m masker) without(text string, whole bool) string {
	if json.Valid([]byte(text)) {
		text = m.mask(text)
	}
	text = m.replace(text)
	if !whole {
		text = m.withoutBeginning(text)
	}
	for _, decoded := range []string{html.UnescapeString(text), unescaped(text), percentDecoded(text), strings.ReplaceAll(text, "\x00", "")} {
		if m.occursIn(decoded) {
			return masked
		}
	}
	return text
}

// withoutBeginning takes away the longest beginning of a secret at the end of a text
// that broke off.
func (m masker) withoutBeginning(text string) string {
	longest := 0
	for _, secret := range m.secrets {
		for n := len(secret) - 1; n > longest; n-- {
			if strings.HasSuffix(text, secret[:n]) {
				longest = n
			}
		}
	}
	return text[:len(text)-longest]
}

// unescaped reads the escapes of JSON wherever they stand.
func unescaped(text string) string {
	var b strings.Builder
	for text != "" {
		c, _, rest, err := strconv.UnquoteChar(text, 0)
		if err != nil { // an escape that Go has not, or a character of its own
			text = strings.TrimPrefix(text, `\`)
			n := min(1, len(text))
			b.WriteString(text[:n])
			text = text[n:]
			continue
		}
		b.WriteRune(c)
		text = rest
	}
	return b.String()
}

// percentDecoded reads the escapes of URLs, and leaves what is none.
func percentDecoded(text string) string {
	parts := strings.Split(text, "%")
	for i, part := range parts[1:] {
		if len(part) >= 2 {
			if c, err := url.PathUnescape("%" + part[:2]); err == nil {
				parts[i+1] = c + part[2:]
				continue
			}
		}
		parts[i+1] = "%" + part
	}
	return strings.Join(parts, "")
}
