// Package issuertest is an identity provider that issues access tokens to agents: on loopback, with
// real keys of each kind, and whatever wrong token or document a test asks for.
package issuertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Issuer is the provider.
type Issuer struct {
	URL string

	mu    sync.Mutex
	keys  []*Key
	also  []map[string]any // published beside them
	name  string           // what it calls itself; "" is URL
	asked map[string]int
}

// New starts a provider with an ES256 key.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{asked: map[string]int{}, keys: []*Key{NewKey(t, "ES256", "first")}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) { i.answer(w, r, i.description()) })
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) { i.answer(w, r, map[string]any{"keys": i.published()}) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

func (i *Issuer) answer(w http.ResponseWriter, r *http.Request, doc any) {
	i.mu.Lock()
	i.asked[r.URL.Path]++
	i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

func (i *Issuer) description() map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	name := i.URL
	if i.name != "" {
		name = i.name
	}
	return map[string]any{"issuer": name, "jwks_uri": i.URL + "/keys"}
}

func (i *Issuer) published() []map[string]any {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := append([]map[string]any{}, i.also...)
	for _, k := range i.keys {
		out = append(out, k.Public())
	}
	return out
}

// Rotate takes the keys back, and publishes others.
func (i *Issuer) Rotate(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

// Publish publishes members of the set that are no keys of the issuer's.
func (i *Issuer) Publish(also ...map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.also = also
}

// CallItself is what the description says who it is.
func (i *Issuer) CallItself(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.name = name
}

// Asked is how often its keys were read.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked["/keys"]
}

// Key is the one that it signs with.
func (i *Issuer) Key() *Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// Claims are the usual ones of a token for an audience, and more; nil leaves one out.
func Claims(issuer, audience string, now time.Time, more map[string]any) map[string]any {
	claims := map[string]any{"iss": issuer, "aud": audience, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	maps.Copy(claims, more)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Token is a token for an audience, signed with the issuer's key.
func (i *Issuer) Token(t testing.TB, audience string, more map[string]any) string {
	t.Helper()
	k := i.Key()
	return k.Sign(t, k.Header(), Claims(i.URL, audience, time.Now(), more))
}
