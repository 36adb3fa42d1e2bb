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

// spellings are the forms in which a secret may be written, by name.
func spellings(secret string) map[string]string {
	raw := []byte(secret)
	quoted, _ := json.Marshal(secret) // a string always encodes
	escaped := ""
	for _, c := range raw {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	out := map[string]string{
		"as it is": secret, "hex": hex.EncodeToString(raw), "HEX": strings.ToUpper(hex.EncodeToString(raw)),
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "in JSON": strings.Trim(string(quoted), `"`), "in JSON, all escaped": escaped,
	}
	for shift := range 3 { // behind something else in one text
		out[fmt.Sprintf("base64 behind %d bytes", shift)] = within(base64.StdEncoding, raw, shift)
		out[fmt.Sprintf("base64 for URLs behind %d bytes", shift)] = within(base64.URLEncoding, raw, shift)
	}
	return out
}

// within is what of a text's base64 doesn't depend on what stands around it.
func within(encoding *base64.Encoding, raw []byte, shift int) string {
	text := encoding.EncodeToString(append(make([]byte, shift), raw...))
	return text[min(shift, 1)*4 : (shift+len(raw))/3*4]
}

// scanned counts what was searched for secrets, over all tests: texts and bytes, how
// often something was found, and for how many secrets.
var scanned struct{ texts, bytes, hits, secrets atomic.Int64 }

// Scanned says what was searched for secrets.
func Scanned() string {
	return fmt.Sprintf("canary scan: %d secrets, each in %d spellings, in %d answers, pages, events, logs, files and rows of %d MiB: %d hits",
		scanned.secrets.Load(), len(spellings("a secret")), scanned.texts.Load(), scanned.bytes.Load()>>20, scanned.hits.Load())
}

// Keep adds a secret that no answer, page, event, log line, store file or row may
// hold.
func (s *Server) Keep(secret string) {
	scanned.secrets.Add(1)
	s.keep(secret, "")
	if s.sharedServer != nil {
		s.sharedServer.keep(secret, ", of "+s.t.Name())
	}
}

// keep adds a secret; a shared server says whose it is.
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

// spelling is one form of a secret.
type spelling struct{ name, form string }

// leaked is the first secret that occurs in text, with how it is spelt; "" when none
// does.
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
