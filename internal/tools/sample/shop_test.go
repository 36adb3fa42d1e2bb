package sample_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/tools/sample"
)

const secret = "a secret of the sample's tests"

// sent is a signed request; send fills in the fields that a test leaves empty.
type sent struct {
	method, path, key, body string
	at                      time.Time
	secret                  string
	spoil                   func(*http.Request) // changes the request after signing
}

func start(t *testing.T, cfg sample.Config) *sample.Shop {
	t.Helper()
	cfg.Secret = []byte(secret)
	shop, err := sample.StartShop(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	return shop
}

func (s sent) request(t *testing.T, origin string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(s.method, origin+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	if s.at.IsZero() {
		s.at = time.Now()
	}
	if s.secret == "" {
		s.secret = secret
	}
	if s.key == "" {
		s.key = "a read"
	}
	parts := signature.Parts{
		Method: s.method, PathAndQuery: s.path, Timestamp: strconv.FormatInt(s.at.Unix(), 10), IdempotencyKey: s.key,
		RunID: "run-1", StepID: "step", BodySHA256: signature.BodyHash([]byte(s.body)),
	}
	signed, err := signature.Sign([]byte(s.secret), parts)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{
		signature.HeaderIdempotencyKey: s.key, signature.HeaderRunID: parts.RunID, signature.HeaderStepID: parts.StepID,
		signature.HeaderTimestamp: parts.Timestamp, signature.HeaderSignature: signed,
	} {
		r.Header.Set(name, v)
	}
	if s.spoil != nil {
		s.spoil(r)
	}
	return r
}

type answer struct {
	status   int
	body     string
	replayed bool
}

func (s sent) to(t *testing.T, shop *sample.Shop) answer {
	t.Helper()
	res, err := http.DefaultClient.Do(s.request(t, shop.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, string(body), res.Header.Get("Idempotency-Replayed") == "true"}
}

const refundBody = `{"orderId":"A-48213","amount":249.00,"currency":"EUR"}`

func refundUnder(key string) sent {
	return sent{method: "POST", path: "/refunds", key: key, body: refundBody}
}

func TestShopServesItsOperations(t *testing.T) {
	shop := start(t, sample.Config{})
	for _, c := range []struct {
		call   sent
		status int
		body   string
	}{
		{sent{method: "GET", path: "/health"}, 200, `{"status":"open"}`},
		{sent{method: "GET", path: "/orders/A-48213"}, 200, `{"order":{"id":"A-48213","status":"returned","total":249.00,"currency":"EUR"}}`},
		{sent{method: "GET", path: "/orders/A-1"}, 404, `{"error":"there is no such order"}`},
		{sent{method: "GET", path: "/refunds?orderId=A-48213"}, 200, `{"orderId":"A-48213","refunds":[]}`},
		{refundUnder("k1"), 201, `{"id":"rf-1","orderId":"A-48213","amount":249.00,"currency":"EUR","status":"succeeded","key":"k1"}`},
		{refundUnder("k2"), 422, `{"error":"the order is refunded already"}`},
		{sent{method: "GET", path: "/refunds?orderId=A-48213"}, 200, `{"orderId":"A-48213","refunds":[{"id":"rf-1","orderId":"A-48213","amount":249.00,"currency":"EUR","status":"succeeded","key":"k1"}]}`},
		{sent{method: "GET", path: "/orders/A-48213/notice"}, 200, `{"orderId":"A-48213","refundId":"","text":"","status":"none","key":""}`},
		{sent{method: "PUT", path: "/orders/A-48213/notice", key: "k3", body: `{"refundId":"rf-1","text":"soon"}`}, 200, `{"orderId":"A-48213","refundId":"rf-1","text":"soon","status":"sent","key":"k3"}`},
		{sent{method: "GET", path: "/orders/A-48213/notice"}, 200, `{"orderId":"A-48213","refundId":"rf-1","text":"soon","status":"sent","key":"k3"}`},
		{sent{method: "POST", path: "/returns/R-7731/close", key: "k4"}, 200, `{"id":"R-7731","status":"pending","key":"k4"}`},
		{sent{method: "GET", path: "/returns/R-7731"}, 200, `{"id":"R-7731","status":"pending","key":"k4"}`},
		{sent{method: "GET", path: "/orders/A-48377"}, 200, `{"order":{"id":"A-48377","status":"returned","total":64.50,"currency":"EUR"}}`},
		{sent{method: "POST", path: "/refunds", key: "k6", body: `{"orderId":"A-48377","amount":64.50,"currency":"EUR"}`}, 201, `{"id":"rf-2","orderId":"A-48377","amount":64.50,"currency":"EUR","status":"succeeded","key":"k6"}`},
		{sent{method: "DELETE", path: "/orders/A-48213", key: "k5"}, 404, `{"error":"the shop has no DELETE /orders/A-48213"}`},
	} {
		if got := c.call.to(t, shop); got.status != c.status || got.body != c.body {
			t.Errorf("%s %s: got %d %s, want %d %s", c.call.method, c.call.path, got.status, got.body, c.status, c.body)
		}
	}
}

func TestShopRefusesRefundsThatDoNotFit(t *testing.T) {
	shop := start(t, sample.Config{})
	for body, status := range map[string]int{
		`{"orderId":"A-48213","amount":249.01,"currency":"EUR"}`: 422,
		`{"orderId":"A-48213","amount":0,"currency":"EUR"}`:      422,
		`{"orderId":"A-48213","amount":-1,"currency":"EUR"}`:     422,
		`{"orderId":"A-48213","amount":1,"currency":"USD"}`:      422,
		`{"orderId":"A-47902","amount":1,"currency":"EUR"}`:      422, // the order was not returned
		`{"orderId":"A-1","amount":1,"currency":"EUR"}`:          404,
		`{"orderId":"A-48213","amount":"249","currency":"EUR"}`:  400,
		`refund`: 400,
	} {
		call := sent{method: "POST", path: "/refunds", key: body, body: body}
		call.key = "key-" + signature.BodyHash([]byte(body))
		if got := call.to(t, shop); got.status != status {
			t.Errorf("%s: got %d %s, want %d", body, got.status, got.body, status)
		}
	}
}

func TestShopRefusesWhatIsNotSignedRight(t *testing.T) {
	shop := start(t, sample.Config{})
	for name, c := range map[string]sent{
		"another secret": {secret: "another"},
		"an old one":     {at: time.Now().Add(-6 * time.Minute)},
		"one of later":   {at: time.Now().Add(6 * time.Minute)},
		"no signature":   {spoil: func(r *http.Request) { r.Header.Del(signature.HeaderSignature) }},
		"another key":    {spoil: func(r *http.Request) { r.Header.Set(signature.HeaderIdempotencyKey, "other") }},
		"another run":    {spoil: func(r *http.Request) { r.Header.Set(signature.HeaderRunID, "run-2") }},
		"another step":   {spoil: func(r *http.Request) { r.Header.Set(signature.HeaderStepID, "other") }},
		"another target": {spoil: func(r *http.Request) { r.URL.RawQuery = "x=1" }},
		"another body": {spoil: func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Replace(refundBody, "249.00", "249.01", 1)))
		}},
	} {
		c.method, c.path, c.key, c.body = "POST", "/refunds", "k-"+strings.ReplaceAll(name, " ", "-"), refundBody
		if got := c.to(t, shop); got.status != http.StatusUnauthorized {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
	for _, e := range shop.Received() {
		if e.Signature == sample.SignatureValid || e.Acted() {
			t.Errorf("taken for valid: %+v", e)
		}
	}
	if got := refundUnder("k-another-secret").to(t, shop); got.status != http.StatusCreated {
		t.Errorf("a refused request used up its key: %d %s", got.status, got.body)
	}
}

func TestShopRemembersKeys(t *testing.T) {
	shop := start(t, sample.Config{})
	first := refundUnder("k").to(t, shop)
	again := refundUnder("k").to(t, shop)
	if first.status != 201 || first.replayed || again.status != 201 || again.body != first.body || !again.replayed {
		t.Errorf("got %+v, then %+v", first, again)
	}
	other := refundUnder("k")
	other.body = strings.Replace(refundBody, "249.00", "1", 1)
	if got := other.to(t, shop); got.status != http.StatusConflict || got.replayed {
		t.Errorf("another payload under the same key: %+v", got)
	}
	keyless := refundUnder("other")
	keyless.spoil = func(r *http.Request) { r.Header.Del(signature.HeaderIdempotencyKey) }
	if got := keyless.to(t, shop); got.status != http.StatusUnauthorized {
		t.Errorf("a side effect without a key: %+v", got)
	}
	if n := acted(shop); n != 1 {
		t.Errorf("acted %d times", n)
	}
}

func acted(shop *sample.Shop) (n int) {
	for _, e := range shop.Received() {
		if e.Acted() {
			n++
		}
	}
	return n
}

func TestShopLogsRequestsAsReceived(t *testing.T) {
	shop := start(t, sample.Config{})
	refundUnder("k").to(t, shop)
	sent{method: "GET", path: "/refunds?orderId=A-48213", key: "p"}.to(t, shop)
	log := shop.Received()
	if len(log) != 2 {
		t.Fatalf("got %d entries", len(log))
	}
	want := sample.Entry{At: log[0].At, Method: "POST", Path: "/refunds", Key: "k", RunID: "run-1", StepID: "step", Signature: "valid", Body: refundBody, Status: 201, Answer: log[0].Answer, Mark: log[0].Mark}
	got, err := json.Marshal(log[0])
	if err != nil {
		t.Fatal(err)
	}
	if expected, _ := json.Marshal(want); string(got) != string(expected) {
		t.Errorf("got %s, want %s", got, expected)
	}
	if log[1].Path != "/refunds?orderId=A-48213" {
		t.Errorf("the query is missing: %+v", log[1])
	}
}

func TestShopKnowsAgainWhatItDid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.log")
	shop := start(t, sample.Config{Log: file})
	first := refundUnder("k").to(t, shop)
	if err := shop.Close(); err != nil {
		t.Fatal(err)
	}
	cutOff(t, file) // as after a power failure
	shop = start(t, sample.Config{Log: file})
	if got := refundUnder("k").to(t, shop); !got.replayed || got.body != first.body {
		t.Errorf("the key is forgotten: %+v", got)
	}
	if got := (sent{method: "GET", path: "/refunds?orderId=A-48213"}).to(t, shop); !strings.Contains(got.body, `"key":"k"`) {
		t.Errorf("the refund is forgotten: %s", got.body)
	}
	_ = shop.Close()
	if shop = start(t, sample.Config{Log: file}); len(shop.Received()) != 3 || acted(shop) != 1 {
		t.Errorf("got %+v", shop.Received())
	}
}

// TestShopLosesAnAnswer: the shop pays the prepared order back and hangs up. Its log and its reads
// show the refund, and a repetition under the key gets the answer.
func TestShopLosesAnAnswer(t *testing.T) {
	shop := start(t, sample.Config{})
	call := sent{method: "POST", path: "/refunds", key: "k", body: `{"orderId":"A-48537","amount":119.90,"currency":"EUR"}`}
	if res, err := http.DefaultClient.Do(call.request(t, shop.URL())); err == nil {
		_ = res.Body.Close()
		t.Errorf("it is answered with %d", res.StatusCode)
	}
	if n := acted(shop); n != 1 {
		t.Errorf("acted %d times", n)
	}
	if got := (sent{method: "GET", path: "/refunds?orderId=A-48537"}).to(t, shop); !strings.Contains(got.body, `"key":"k"`) {
		t.Errorf("it doesn't show the refund: %s", got.body)
	}
	if got := call.to(t, shop); got.status != http.StatusCreated || !got.replayed {
		t.Errorf("a repetition: %+v", got)
	}
}

func cutOff(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"at":"2026-01-05T09:00:00Z","method":"POST","pa`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestShopRefusesALogThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.log")
	if err := os.WriteFile(file, []byte("{}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sample.StartShop(sample.Config{Secret: []byte(secret), Log: file}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

func TestShopSaysThatItsAddressIsTaken(t *testing.T) {
	shop := start(t, sample.Config{})
	_, err := sample.StartShop(sample.Config{Secret: []byte(secret), Address: strings.TrimPrefix(shop.URL(), "http://")})
	if err == nil {
		t.Error("two shops at one address")
	}
}
