package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/httpup"
)

// TestNestedFieldsBecomeAForm spells forms as Stripe and Rails read them.
func TestNestedFieldsBecomeAForm(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL, "encode: form"), nil)
	a.send("k", "POST", "/http/shop/orders", `{"amount":2.50,"items":[{"id":"a&b"},{"id":"c d"}],"meta":{"on":true,"off":null},"none":[]}`).is(t, 200, "{}")
	if want := "POST /orders amount=2.50&items%5B0%5D%5Bid%5D=a%26b&items%5B1%5D%5Bid%5D=c+d&meta%5Bon%5D=true"; api.sent()[0] != want {
		t.Errorf("sent %s\nnot %s", api.sent()[0], want)
	}
	if kind := api.headers()[0].Get("Content-Type"); kind != "application/x-www-form-urlencoded" {
		t.Error("as", kind)
	}
	a.send("l", "POST", "/http/shop/orders", `[1]`).is(t, 400, `{"error":"invalid_request","message":"the body must be a JSON object: its fields are those of the upstream"}`)
	a.send("m", "POST", "/http/shop/orders", `{`).is(t, 400, "the body is no JSON: ")
}

func TestTheUpstreamGetsTheRuntimesKeyAsItsOwn(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL, "key: {header: PayPal-Request-Id}", "headers: {Notion-Version: '2022-06-28'}", "accept: application/vnd.shop+json"), nil)
	a.send("run-1.pay", "POST", "/http/shop/orders", `{"a":1}`).is(t, 200, "{}")
	for name, want := range map[string]string{
		"PayPal-Request-Id": "run-1.pay", "Notion-Version": "2022-06-28", "Accept": "application/vnd.shop+json",
		"Accept-Encoding": "identity", "X-Runtime-Signature": "", "Idempotency-Key": "", "Authorization": "",
	} {
		if got := api.headers()[0].Get(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	b := start(t, shop(api.URL, "key: {field: idempotency_key}"), nil)
	b.send("run-2.pay", "POST", "/http/shop/orders", `{"amount":9007199254740993}`).is(t, 200, "{}")
	if want := `POST /orders {"amount":9007199254740993,"idempotency_key":"run-2.pay"}`; api.sent()[1] != want {
		t.Errorf("sent %s\nnot %s", api.sent()[1], want)
	}
	b.send("run-3.pay", "POST", "/http/shop/orders", `{"idempotency_key":"x"}`).is(t, 400, `the body's field \"idempotency_key\" is the upstream's idempotency key, which the adapter writes`)
}

// TestJSONIsSentUnderTheNameThatFILEGivesIt with a body, and without one under none.
func TestJSONIsSentUnderTheNameThatFILEGivesIt(t *testing.T) {
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL, "headers: {content-type: application/vnd.api+json;version=2}"), nil)
	a.send("k", "POST", "/http/shop/orders", `{"a":1}`).is(t, 200, "{}")
	a.send("l", "POST", "/http/shop/orders", "").is(t, 200, "{}")
	for i, want := range []string{"application/vnd.api+json;version=2", ""} {
		if got := strings.Join(api.headers()[i].Values("Content-Type"), ", "); got != want {
			t.Errorf("sent as %q, not %q", got, want)
		}
	}
}

func TestHowTheAdapterAuthenticates(t *testing.T) {
	for auth, want := range map[string]string{
		"{type: bearer, credentialEnv: KEY}":                  "Authorization: Bearer the-key",
		"{type: bearer, scheme: Bot, credentialEnv: KEY}":     "Authorization: Bot the-key",
		"{type: header, name: X-Api-Key, credentialEnv: KEY}": "X-Api-Key: the-key",
		"{type: basic, user: shop, credentialEnv: KEY}":       "Authorization: Basic c2hvcDp0aGUta2V5",
	} {
		api := newAPI(t, says(200, `{"echo":"the-key"}`))
		a := start(t, shop(api.URL, "auth: "+auth), map[string]string{"KEY": "the-key"})
		a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, `{"echo":"[credential]"}`)
		name, value, _ := strings.Cut(want, ": ")
		if got := api.headers()[0].Get(name); got != value {
			t.Errorf("%s: %s: %q", auth, name, got)
		}
	}
	a := start(t, shop("http://127.0.0.1:1", "auth: {type: bearer, credentialEnv: KEY}"), map[string]string{"KEY": "a\nb"})
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, "the value of KEY can't be sent in a header; nothing was called")
}

// tokens is a token endpoint that gives t1, t2, … and keeps what it was asked.
type tokens struct {
	*httptest.Server
	asked []url.Values
	reply string // instead of a token
	turns bool   // each answer has a new refresh token
}

func newTokens(t *testing.T) *tokens {
	t.Helper()
	k := &tokens{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // what can't be read is seen below
		if user, password, ok := r.BasicAuth(); ok {
			r.PostForm.Set("client", user+":"+password)
		}
		k.asked = append(k.asked, r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		if k.reply != "" {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, k.reply)
			return
		}
		turned := ""
		if k.turns {
			turned = fmt.Sprintf(`,"refresh_token":"refresh-%d"`, len(k.asked))
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600%s}`, len(k.asked), turned)
	}))
	t.Cleanup(k.Close)
	return k
}

var client = map[string]string{"ID": "the-client", "PASSWORD": "client-secret", "REFRESH": "refresh-0"}

func oauth(endpoint, more string) string {
	return "auth: {type: oauth2, tokenUrl: '" + endpoint + "/token', clientIdEnv: ID, clientSecretEnv: PASSWORD" + more + "}"
}

func TestATokenIsFetchedBeforeTheCallAndUsedUntilItEnds(t *testing.T) {
	k := newTokens(t)
	api := newAPI(t, says(200, `{"you":"token-1"}`))
	a := start(t, shop(api.URL, oauth(k.URL, ", scopes: [orders, read]")), client)
	for _, key := range []string{"a", "b"} {
		a.send(key, "POST", "/http/shop/orders", "{}").is(t, 200, `{"you":"[credential]"}`)
	}
	if len(k.asked) != 1 || k.asked[0].Get("client") != "the-client:client-secret" || k.asked[0].Get("scope") != "orders read" || k.asked[0].Get("grant_type") != "client_credentials" {
		t.Errorf("the endpoint was asked %v", k.asked)
	}
	if got := api.headers()[1].Get("Authorization"); got != "Bearer token-1" {
		t.Error(got)
	}
}

// TestARevokedClientCallsNothing, and the run says so.
func TestARevokedClientCallsNothing(t *testing.T) {
	k := newTokens(t)
	api := newAPI(t, says(200, "{}"))
	a := start(t, shop(api.URL, oauth(k.URL, "")), client)
	for reply, want := range map[string]string{
		`{"error":"invalid_client","error_description":"client-secret is wrong"}`: "no token: the token endpoint answered 400 invalid_client; nothing was called",
		`{"error":"<script>"}`: "no token: the token endpoint answered 400; nothing was called",
	} {
		k.reply = reply
		a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, `{"error":"not_called","message":"`+want+`"}`)
	}
	k.Close()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, "no token: the token endpoint gave no answer that can be used")
	if api.sent() != nil {
		t.Error("it was called")
	}
}

// TestA401IsAnEndAndIsNeverRetried: the next call gets another token.
func TestA401IsAnEndAndIsNeverRetried(t *testing.T) {
	k := newTokens(t)
	api := newAPI(t, says(401, `{"why":"revoked"}`))
	a := start(t, shop(api.URL, oauth(k.URL, "")), client)
	a.send("a", "POST", "/http/shop/orders", "{}").is(t, 401, `{"why":"revoked"}`)
	a.send("a", "POST", "/http/shop/orders", "{}").is(t, 401, `{"why":"revoked"}`)
	api.reply = says(200, "{}")
	a.send("b", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
	if len(api.sent()) != 2 || api.headers()[1].Get("Authorization") != "Bearer token-2" {
		t.Errorf("asked %d times, then with %s", len(api.sent()), api.headers()[1].Get("Authorization"))
	}
}

// TestARefreshTokenThatTurnsIsKept: a provider that gives a new one no longer takes the old one.
func TestARefreshTokenThatTurnsIsKept(t *testing.T) {
	k := newTokens(t)
	k.turns = true
	api := newAPI(t, says(200, `{"you":"refresh-1"}`))
	a := start(t, shop(api.URL, oauth(k.URL, ", refreshTokenEnv: REFRESH")), client)
	a.send("a", "POST", "/http/shop/orders", "{}").is(t, 200, "[credential]")
	a.restart()
	a.send("b", "POST", "/http/shop/orders", "{}").is(t, 200, "{")
	if got := k.asked[0].Get("refresh_token") + " " + k.asked[1].Get("refresh_token"); got != "refresh-0 refresh-1" {
		t.Error("sent", got)
	}
	a.secrets["REFRESH"] = "given-anew"
	a.restart()
	a.send("c", "POST", "/http/shop/orders", "{}").is(t, 200, "{")
	if got := k.asked[2].Get("refresh_token"); got != "given-anew" {
		t.Error("sent", got)
	}
}

const job = "job: {statusPath: '/jobs/{job.id}', every: 1ms, until: [{field: state, equals: done}, {field: state, equals: failed}], done: {field: state, equals: done}, output: result, timeout: %s}"

func TestAJobIsFollowedToItsEnd(t *testing.T) {
	for state, want := range map[string]answer{
		`{"state":"done","result":{"id":7}}`: {status: 200, body: `{"id":7}`},
		`{"state":"done"}`:                   {status: 200, body: `{"state":"done"}`},
		`{"state":"failed","why":"no"}`:      {status: 422, body: `{"state":"failed","why":"no"}`},
	} {
		var api *api
		api = newAPI(t, func(w http.ResponseWriter, r *http.Request) {
			switch n := len(api.sent()); {
			case r.Method == "POST":
				says(202, `{"job":{"id":"J-1"}}`)(w, r)
			case n == 2:
				says(200, `{"state":"working"}`)(w, r)
			case n == 3:
				says(500, "")(w, r) // it is asked again
			default:
				says(200, state)(w, r)
			}
		})
		a := start(t, shop(api.URL, fmt.Sprintf(job, "50s")), nil)
		for range 2 {
			a.send("k", "POST", "/http/shop/orders", "{}").is(t, want.status, want.body)
		}
		if got := strings.Join(api.sent(), " "); got != "POST /orders {} GET /jobs/J-1 GET /jobs/J-1 GET /jobs/J-1" {
			t.Error(got)
		}
	}
}

// TestAJobGoesOnBehindItsCallerAndTheNextProcess, until its end is known.
func TestAJobGoesOnBehindItsCallerAndTheNextProcess(t *testing.T) {
	ended := make(chan struct{})
	api := newAPI(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
			says(200, `{"state":"done","result":1}`)(w, r)
		default:
			says(200, `{"job":{"id":5},"state":"working"}`)(w, r)
		}
	})
	a := start(t, shop(api.URL, fmt.Sprintf(job, "1ms")), nil)
	late := "the upstream works at it still, and is asked until its job ends"
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, late)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, late)
	a.restart()
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, late)
	close(ended)
	for a.send("k", "POST", "/http/shop/orders", "{}").status == 504 {
	}
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, "1")
	if n := strings.Count(strings.Join(api.sent(), " "), "POST"); n != 1 {
		t.Errorf("it was called %d times", n)
	}
}

func TestAJobThatNobodyCanFollowIsUnknown(t *testing.T) {
	for _, said := range []string{`{}`, `{"job":{"id":"../x"}}`, `{"job":{"id":{}}}`, "", "done"} {
		api := newAPI(t, says(202, said))
		a := start(t, shop(api.URL, fmt.Sprintf(job, "50s")), nil)
		a.send("k", "POST", "/http/shop/orders", "{}").is(t, 504, `the upstream accepted a job, and its answer has no identifier \"job.id\" to follow it by`)
	}
}

// TestAJobIsGivenUpAfterADay.
func TestAJobIsGivenUpAfterADay(t *testing.T) {
	api := newAPI(t, says(404, ""))
	a := start(t, shop(api.URL, fmt.Sprintf(job, "1ms")), nil)
	if err := a.store.Begin(t.Context(), "k", "shop", callOf("POST", "/http/shop/orders", "{}"), a.now); err != nil {
		t.Fatal(err)
	}
	if err := a.store.Follow(t.Context(), "k", "/jobs/1"); err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(24*time.Hour + time.Second)
	a.restart()
	for !strings.Contains(a.send("k", "POST", "/http/shop/orders", "{}").body, "the upstream's job did not end within 24 hours") {
	}
}

// certificate makes one that signs itself, for the loopback address, in PEM.
func certificate(t *testing.T) (cert, key string, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = write(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	key = write(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})))
	if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
		t.Fatal(err)
	}
	return cert, key, pair
}

func TestMutualTLSAndAPrivateAuthority(t *testing.T) {
	cert, key, pair := certificate(t)
	ours := x509.NewCertPool()
	ours.AddCert(pair.Leaf)
	var by []*x509.Certificate
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by = r.TLS.PeerCertificates
		says(200, "{}")(w, r)
	}))
	api.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours}
	api.Config.ErrorLog = nil
	api.StartTLS()
	t.Cleanup(api.Close)
	address := strings.Replace(api.URL, "127.0.0.1", "localhost", 1)
	a := start(t, shop(address, "auth: {type: mtls, certFile: "+cert+", keyFile: "+key+"}", "caFile: "+cert), nil)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 200, "{}")
	if len(by) != 1 {
		t.Error("no certificate came")
	}
	b := start(t, shop(address), nil)
	b.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, "the upstream's certificate is not trusted; nothing was called")
}

func TestAddressesThatCallsNeverGoToAreNotCalled(t *testing.T) {
	a := start(t, shop("http://no-such-name.invalid"), nil)
	a.send("k", "POST", "/http/shop/orders", "{}").is(t, 424, "the upstream's name could not be resolved")
}

func TestAFileOfNoCertificatesStopsTheStart(t *testing.T) {
	path := write(t, "ca.pem", "nothing")
	cfg := &file.Upstream{HTTP: &file.HTTP{BaseURL: "https://localhost", CAFile: path}}
	if _, err := httpup.New(cfg, nil, nil); err == nil || err.Error() != path+" holds no certificate in PEM" {
		t.Error(err)
	}
}
