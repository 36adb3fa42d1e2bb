package sample_test

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/tools/sample"
)

var answerKey = ed25519.NewKeyFromSeed([]byte("a seed of the sample's own tests"))

// signed sends a call whose answer must be signed by the shop.
func (s sent) signed(t *testing.T, shop *sample.Shop) (status int, body string) {
	t.Helper()
	r := s.request(t, shop.URL())
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	parts := signature.Answer{
		IdempotencyKey: r.Header.Get(signature.HeaderIdempotencyKey), Timestamp: r.Header.Get(signature.HeaderTimestamp), Method: s.method, PathAndQuery: s.path,
		BodySHA256: signature.BodyHash([]byte(s.body)), Status: res.StatusCode, AnswerSHA256: signature.BodyHash(text),
	}
	keys := []ed25519.PublicKey{answerKey.Public().(ed25519.PublicKey)}
	if _, err := signature.VerifyAnswer(keys, parts, res.Header.Values(signature.HeaderAnswer)); err != nil {
		t.Errorf("%s %s: %d %s: %v", s.method, s.path, res.StatusCode, text, err)
	}
	return res.StatusCode, string(text)
}

// stateOf asks the shop what became of a key, or to withdraw it.
func stateOf(t *testing.T, shop *sample.Shop, method, path string) (state, body string) {
	t.Helper()
	status, text := sent{method: method, path: sample.SettlementPath + "/" + path, key: "q"}.signed(t, shop)
	var said struct {
		State string          `json:"state"`
		Body  json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return said.State, string(said.Body)
}

// TestTheShopTellsWhatBecameOfAKey, also after a kill: an answer that was lost, and a key that was
// withdrawn, under which nothing happens any more.
func TestTheShopTellsWhatBecameOfAKey(t *testing.T) {
	cfg := sample.Config{AnswerKey: answerKey, Log: filepath.Join(t.TempDir(), "log")}
	shop := start(t, cfg)
	lost := sent{method: "POST", path: "/refunds", key: "lost", body: `{"orderId":"A-48537","amount":119.90,"currency":"EUR"}`}
	if res, err := http.DefaultClient.Do(lost.request(t, shop.URL())); err == nil {
		_ = res.Body.Close()
		t.Error("it is answered")
	}
	if state, _ := stateOf(t, shop, "GET", "unseen"); state != "UNSEEN" {
		t.Errorf("an unseen key is %s", state)
	}
	if state, _ := stateOf(t, shop, "POST", "unseen/withdraw"); state != "WITHDRAWN" {
		t.Errorf("a withdrawn key is %s", state)
	}
	for range 2 { // the second time after a kill
		state, body := stateOf(t, shop, "GET", "lost")
		if state != "DONE" || !strings.Contains(body, `"status":"succeeded","key":"lost"`) {
			t.Errorf("the lost refund is %s %s", state, body)
		}
		if state, _ := stateOf(t, shop, "POST", "lost/withdraw"); state != "DONE" {
			t.Errorf("a key that is done is withdrawn: %s", state)
		}
		if status, body := refundUnder("unseen").signed(t, shop); status != http.StatusGone {
			t.Errorf("under a withdrawn key: %d %s", status, body)
		}
		if n := acted(shop); n != 1 {
			t.Errorf("it acted %d times", n)
		}
		_ = shop.Close()
		shop = start(t, cfg)
	}
}

// TestTheShopSaysSinceWhenItHasForgottenNothing: since the first line of its log; without a log, now.
func TestTheShopSaysSinceWhenItHasForgottenNothing(t *testing.T) {
	first := time.Now().UTC().Truncate(time.Second)
	for log, want := range map[string]time.Time{"": first.Add(time.Minute), filepath.Join(t.TempDir(), "log"): first} {
		now := first
		shop := start(t, sample.Config{AnswerKey: answerKey, Log: log, Now: func() time.Time { return now }})
		sent{method: "GET", path: "/health", at: now}.signed(t, shop)
		now = now.Add(time.Minute)
		_, text := sent{method: "GET", path: "/calls/k", key: "q", at: now}.signed(t, shop)
		if since := `"since":"` + want.Format("2006-01-02T15:04:05.000Z"); !strings.Contains(text, since) {
			t.Errorf("with the log %q it says %s; want %s", log, text, since)
		}
	}
}

// TestACustomerSpendsWhatAnApproverHasSeen: the basket is paid for once, whatever is restarted.
func TestACustomerSpendsWhatAnApproverHasSeen(t *testing.T) {
	cfg := sample.Config{Log: filepath.Join(t.TempDir(), "log")}
	shop := start(t, cfg)
	balance := func(want string) {
		t.Helper()
		if got := (sent{method: "GET", path: "/accounts/C-2207"}).to(t, shop); got.body != `{"id":"C-2207","status":"open","balance":`+want+`,"currency":"EUR"}` {
			t.Errorf("%s; want %s", got.body, want)
		}
	}
	balance("80.00")
	for range 2 {
		if err := shop.FillBasket(); err != nil {
			t.Fatal(err)
		}
		balance("35.00")
		_ = shop.Close()
		shop = start(t, cfg)
	}
	pay := sent{method: "POST", path: "/accounts/C-2207/payouts", key: "p", body: `{"amount":20.50,"currency":"EUR"}`}
	if got := pay.to(t, shop); got.status != 201 || got.body != `{"id":"po-1","accountId":"C-2207","amount":20.50,"currency":"EUR","status":"succeeded","key":"p"}` {
		t.Errorf("%+v", got)
	}
	balance("14.50")
	if got := (sent{method: "GET", path: "/accounts/C-2207/payouts"}).to(t, shop); !strings.Contains(got.body, `"payouts":[{"id":"po-1"`) {
		t.Errorf("%+v", got)
	}
}

func TestAShopWithoutASecretDoesNotStart(t *testing.T) {
	if _, err := sample.StartShop(sample.Config{}); err == nil || err.Error() != "the shop has no secret to verify calls with" {
		t.Errorf("got %v", err)
	}
}
