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

// said is the beginning of the body of an answer that is no 2xx, as text: what tells a
// person why a 422 was one. It is evidence, never an output. The credential is taken
// out as it is out of an output; where it can be read only after some decoding, of a
// text that is no JSON, nothing of the body is kept.
func said(body []byte, secret string, whole bool) string {
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	if len(secret) >= minMasked {
		text = withoutSecret(text, secret, whole)
	}
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "")
	}
	return text
}

func withoutSecret(text, secret string, whole bool) string {
	m := masker{forms: forms(secret)}
	if json.Valid([]byte(text)) {
		text = mask(text, secret)
	}
	text = m.replace(text)
	for n := len(secret) - 1; !whole && n > 0; n-- { // it broke off amid the credential
		if beginning, cut := strings.CutSuffix(text, secret[:n]); cut {
			text = beginning
			break
		}
	}
	for _, decoded := range []string{html.UnescapeString(text), unescaped(text), percentDecoded(text)} {
		if m.occursIn(decoded) {
			return masked
		}
	}
	return text
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
