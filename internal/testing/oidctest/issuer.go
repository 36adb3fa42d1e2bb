// Package oidctest is an OpenID Connect provider for tests: real keys and real tokens on loopback,
// and many kinds of wrong answers.
package oidctest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// The registered client.
const (
	ClientID     = "countersign"
	ClientSecret = "a client's secret"
)

// Issuer is a provider that signs everybody in without asking.
type Issuer struct {
	URL string
	// Claims are added to the usual ones of the next tokens; a nil one is left out. UserInfo is the
	// answer of the userinfo endpoint.
	Claims, UserInfo map[string]any
	// Forge signs with a key that the issuer doesn't publish.
	Forge bool
	// Bare leaves the ID token out of the answers.
	Bare bool
	// Padding is how many bytes are added to the answers of some paths.
	Padding map[string]int
	// Describing is called before the discovery document is answered.
	Describing func(r *http.Request)

	key, forged *rsa.PrivateKey
	mu          sync.Mutex
	codes       map[string]url.Values // the parameters of each code's authorization request
}

// New starts an issuer.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{codes: map[string]url.Values{}, key: newKey(t, 2048), forged: newKey(t, 2048)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.describe)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) { write(w, i.UserInfo) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// SignWith makes a new signing key of so many bits.
func (i *Issuer) SignWith(t testing.TB, bits int) { t.Helper(); i.key = newKey(t, bits) }

func newKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (i *Issuer) describe(w http.ResponseWriter, r *http.Request) {
	if i.Describing != nil {
		i.Describing(r)
	}
	write(w, map[string]any{
		"padding": i.padding(r),
		"issuer":  i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"userinfo_endpoint": i.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *Issuer) padding(r *http.Request) string { return strings.Repeat("x", i.Padding[r.URL.Path]) }

func (i *Issuer) keys(w http.ResponseWriter, r *http.Request) {
	write(w, map[string]any{"padding": i.padding(r), "keys": []any{map[string]any{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k1",
		"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize redirects back at once with a code.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = q
	i.mu.Unlock()
	back := q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back, http.StatusFound)
}

// token accepts a code once, and only with the parameters of its authorization request.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	code := r.FormValue("code")
	i.mu.Lock()
	asked, known := i.codes[code]
	delete(i.codes, code)
	i.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	secret, _ = url.QueryUnescape(secret)
	if !known || id != ClientID || secret != ClientSecret || r.FormValue("redirect_uri") != asked.Get("redirect_uri") ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != encode(challenge[:]) {
		w.WriteHeader(http.StatusBadRequest)
		write(w, map[string]any{"error": "invalid_grant"})
		return
	}
	answer := map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300, "id_token": i.idToken(asked.Get("nonce"))}
	if i.Bare {
		delete(answer, "id_token")
	}
	write(w, answer)
}

func (i *Issuer) idToken(nonce string) string {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.URL, "aud": ClientID, "sub": "subject", "iat": now, "exp": now + 300, "nonce": nonce, "email": "ada@example.com", "email_verified": true,
	}
	maps.Copy(claims, i.Claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return i.sign("JWT", claims)
}

// AccessToken is a token of another kind: by which an agent comes in at an audience.
func (i *Issuer) AccessToken(audience string, more map[string]any) string {
	now := time.Now().Unix()
	claims := map[string]any{"iss": i.URL, "aud": audience, "iat": now, "exp": now + 300}
	maps.Copy(claims, more)
	return i.sign("at+jwt", claims)
}

func (i *Issuer) sign(typ string, claims map[string]any) string {
	body := encodeJSON(map[string]any{"alg": "RS256", "kid": "k1", "typ": typ}) + "." + encodeJSON(claims)
	key := i.key
	if i.Forge {
		key = i.forged
	}
	sum := sha256.Sum256([]byte(body))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return body + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func encodeJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return encode(raw)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
