package outbound

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// masked stands in an output where the receiver sent our credential back.
const masked = "[credential]"

// minMasked is the length below which a secret is so short that it would be
// found everywhere.
const minMasked = 6

// masker takes the credentials of a call out of its answer, as they are and in the usual
// encodings, for answers are stored, shown and bound into later requests.
type masker struct {
	secrets []string
	forms   []string
}

// maskerOf looks for each secret that is long enough to tell, and for what BASIC makes
// of the user and it.
func maskerOf(all []authentication) (m masker) {
	for _, a := range all {
		m.add(a.value)
		if a.Type == countersign.AuthBasic {
			m.add(a.pair())
			m.add(base64.StdEncoding.EncodeToString([]byte(a.pair())))
		}
	}
	return m
}

func (m *masker) add(secret string) {
	if len(secret) >= minMasked {
		m.secrets = append(m.secrets, secret)
		m.forms = append(m.forms, forms(secret)...)
	}
}

// mask rewrites valid JSON. Texts without a secret, all but a few, stay as they are byte
// for byte.
func (m masker) mask(raw string) string {
	if len(m.forms) == 0 || !strings.Contains(raw, `\`) && !m.occursIn(raw) {
		return raw
	}
	return m.rewrite(raw)
}

// forms are the spellings in which a secret is looked for.
func forms(secret string) []string {
	raw := []byte(secret)
	out := make([]string, 0, 13)
	for _, text := range [...]string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	out = inBase64(out, base64.RawStdEncoding.EncodeToString(raw))
	for shift := range 3 {
		if text := within(raw, shift); len(text) >= minWithin {
			out = inBase64(out, text)
		}
	}
	lower := hex.EncodeToString(raw)
	return append(out, lower, strings.ToUpper(lower))
}

// inBase64 appends a text of base64, and as URLs have it where that differs.
func inBase64(out []string, text string) []string {
	if strings.ContainsAny(text, "+/") {
		out = append(out, strings.ReplaceAll(strings.ReplaceAll(text, "+", "-"), "/", "_"))
	}
	return append(out, text)
}

// minWithin is the least number of such characters that is worth looking for: eight stand
// for six bytes.
const minWithin = 8

// within returns the base64 characters of a secret that its neighbors don't affect, for
// a secret that begins at this byte offset modulo 3 of a longer text, such as one after
// "Bearer ". Up to two bytes of the secret at each end are left out.
func within(secret []byte, shift int) string {
	text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret...))
	return text[min(shift, 1)*4 : (shift+len(secret))/3*4]
}

func (m masker) occursIn(text string) bool {
	for _, f := range m.forms {
		if strings.Contains(text, f) {
			return true
		}
	}
	return false
}

// span is a part of a text.
type span struct{ from, to int }

// replace masks all that is part of some form. Forms that overlap are one: masking one of
// them first would leave the rest of the other.
func (m masker) replace(text string) string {
	var found []span
	for _, f := range m.forms {
		found = append(found, spansOf(text, f)...)
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	end := 0
	for _, s := range found {
		if s.from >= end {
			b.WriteString(text[end:s.from])
			b.WriteString(masked)
		}
		end = max(end, s.to)
	}
	b.WriteString(text[end:])
	return b.String()
}

// spansOf are where a form stands in a text, those that overlap as one.
func spansOf(text, form string) (found []span) {
	for from := 0; ; {
		i := strings.Index(text[from:], form)
		if i < 0 {
			return found
		}
		s := span{from + i, from + i + len(form)}
		if n := len(found); n > 0 && s.from < found[n-1].to {
			found[n-1].to = s.to
		} else {
			found = append(found, s)
		}
		from = s.from + 1
	}
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
