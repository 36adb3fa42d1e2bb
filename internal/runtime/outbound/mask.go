package outbound

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
)

// masked stands in an output where the receiver sent our credential back.
const masked = "[credential]"

// minMasked is the length below which a secret is so short that it would be
// found everywhere.
const minMasked = 6

// mask takes the call's credential out of an output, as it is and in the usual
// encodings, for outputs are stored, shown and bound into later requests. Outputs
// without it, all but a few, stay as they are byte for byte. raw is valid JSON.
func mask(raw, secret string) string {
	if len(secret) < minMasked {
		return raw
	}
	m := masker{forms: forms(secret)}
	if !strings.Contains(raw, `\`) && !m.occursIn(raw) {
		return raw
	}
	return m.rewrite(raw)
}

// forms are the spellings in which a secret is looked for.
func forms(secret string) []string {
	raw := []byte(secret)
	out := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret),
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
		base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	}
	if len(secret) < minWithin {
		return out
	}
	for shift := range 3 {
		out = append(out, within(base64.StdEncoding, raw, shift), within(base64.URLEncoding, raw, shift))
	}
	return out
}

// minWithin is the least number of such characters that is worth looking for.
const minWithin = 12

// within returns the base64 characters of a secret that its neighbors don't affect, for
// a secret that begins at this byte offset modulo 3 of a longer text, such as one after
// "Bearer ". Up to two bytes of the secret at each end are left out.
func within(encoding *base64.Encoding, secret []byte, shift int) string {
	text := encoding.EncodeToString(append(make([]byte, shift), secret...))
	return text[min(shift, 1)*4 : (shift+len(secret))/3*4]
}

type masker struct{ forms []string }

func (m masker) occursIn(text string) bool {
	for _, f := range m.forms {
		if strings.Contains(text, f) {
			return true
		}
	}
	return false
}

func (m masker) replace(text string) string {
	for _, f := range m.forms {
		text = strings.ReplaceAll(text, f, masked)
	}
	return text
}

// rewrite goes through valid JSON token by token. Strings are judged by what they
// mean, however they are escaped, and written anew only if they change; a number
// may be a secret of digits.
func (m masker) rewrite(raw string) string {
	var b strings.Builder
	for raw != "" {
		n := tokenLength(raw)
		token := raw[:n]
		raw = raw[n:]
		text := token
		if token[0] == '"' {
			_ = json.Unmarshal([]byte(token), &text) // valid, by mask's condition
		}
		if m.occursIn(text) {
			token = countersign.String(m.replace(text)).Raw()
		}
		b.WriteString(token)
	}
	return b.String()
}

// tokenLength is that of the string, or of the run of other bytes up to the next
// structural one, that raw begins with; a structural byte is a token of its own.
func tokenLength(raw string) int {
	if raw[0] == '"' {
		for i := 1; i < len(raw); i++ {
			switch raw[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(raw)
	}
	if n := strings.IndexAny(raw, "\",:[]{} \t\r\n"); n > 0 {
		return n
	} else if n == 0 {
		return 1
	}
	return len(raw)
}
