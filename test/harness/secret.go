package harness

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
)

// spellings are the encodings in which a secret may occur, by name.
func spellings(secret string) map[string]string {
	raw := []byte(secret)
	quoted, _ := json.Marshal(secret) // never fails for a string
	escaped := ""
	for _, c := range raw {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	out := map[string]string{
		"as it is": secret, "hex": hex.EncodeToString(raw), "HEX": strings.ToUpper(hex.EncodeToString(raw)),
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "in JSON": strings.Trim(string(quoted), `"`), "in JSON, all escaped": escaped,
	}
	for shift := range 3 { // at each offset in a longer encoded text
		out[fmt.Sprintf("base64 behind %d bytes", shift)] = within(base64.StdEncoding, raw, shift)
		out[fmt.Sprintf("base64 for URLs behind %d bytes", shift)] = within(base64.URLEncoding, raw, shift)
	}
	return out
}

// within is the part of a text's base64 that doesn't depend on the neighboring bytes.
func within(encoding *base64.Encoding, raw []byte, shift int) string {
	text := encoding.EncodeToString(append(make([]byte, shift), raw...))
	return text[min(shift, 1)*4 : (shift+len(raw))/3*4]
}

// scanned counts, over all tests, the texts and bytes that were searched for secrets, the hits, and the
// secrets.
var scanned struct{ texts, bytes, hits, secrets atomic.Int64 }

// Scanned describes these counts.
func Scanned() string {
	return fmt.Sprintf("canary scan: %d secrets, each in %d spellings, in %d answers, pages, events, logs, files and rows of %d MiB: %d hits",
		scanned.secrets.Load(), len(spellings("a secret")), scanned.texts.Load(), scanned.bytes.Load()>>20, scanned.hits.Load())
}

// Keep adds a secret that must not occur in any answer, page, event, log line, store file or row.
func (s *Server) Keep(secret string) {
	scanned.secrets.Add(1)
	s.keep(secret, "")
	if s.sharedServer != nil {
		s.sharedServer.keep(secret, ", of "+s.t.Name())
	}
}

// keep adds a secret; for a shared server the error names the test that it belongs to.
func (s *Server) keep(secret, whose string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[secret] {
		return
	}
	if s.kept == nil {
		s.kept = map[string]bool{}
	}
	s.kept[secret] = true
	for name, form := range spellings(secret) {
		s.secrets.add(spelling{name + whose, form})
	}
}

// spelling is one encoding of a secret.
type spelling struct{ name, form string }

// leaked is the first secret that occurs in text, with its encoding; "" if there is none.
func (s *Server) leaked(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	scanned.texts.Add(1)
	scanned.bytes.Add(int64(len(text)))
	secret, found := s.secrets.first(text)
	if !found {
		return ""
	}
	scanned.hits.Add(1)
	return secret.form + " (" + secret.name + ")"
}
