package harness

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
)

// spellings are the forms in which a secret would give itself away.
func spellings(secret string) []string {
	raw := []byte(secret)
	out := []string{secret, hex.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw)}
	if escaped := url.QueryEscape(secret); escaped != secret {
		out = append(out, escaped)
	}
	return out
}
