package harness

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// TestASecretIsFoundHoweverItIsSpelt: a search without a hit proves something only if it finds each
// encoding.
func TestASecretIsFoundHoweverItIsSpelt(t *testing.T) {
	const secret = "canary/secret+of?the&shop=47<ü>"
	s := &Server{t: t}
	s.Keep(secret)
	quoted, err := json.Marshal("you said " + secret)
	if err != nil {
		t.Fatal(err)
	}
	before := scanned.hits.Load()
	texts := []string{
		"x" + secret + "y", hex.EncodeToString([]byte("ab" + secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))), url.QueryEscape(secret), url.PathEscape(secret), string(quoted),
	}
	for _, before := range []string{"", "a", "ab", "abc", "Bearer "} {
		for _, after := range []string{"", "a", "ab", "and more"} {
			texts = append(texts, base64.StdEncoding.EncodeToString([]byte(before+secret+after)))
		}
	}
	for _, text := range texts {
		if s.leaked(text) == "" {
			t.Errorf("not found in %s", text)
		}
	}
	for _, text := range []string{"", "canary", "canary secret of the shop=47", base64.StdEncoding.EncodeToString([]byte("canary"))} {
		if found := s.leaked(text); found != "" {
			t.Errorf("%s is found in %s", found, text)
		}
	}
	if got := scanned.hits.Add(int64(-len(texts))); got != before {
		t.Errorf("%d hits were not counted", got-before)
	}
}
