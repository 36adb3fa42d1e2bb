package test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// asksFrom requests a code for an address, from a network address in the proxy's header, and returns the status.
func asksFrom(t *testing.T, s *harness.Server, email, from string) int {
	t.Helper()
	req, err := http.NewRequest("POST", s.URL+"/console/sign-in", strings.NewReader(url.Values{"email": {email}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-For", from)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestAStrangersAskingNeverRefusesTheUserNorSpoilsTheirCode: earlier, five requests by anybody prevented a user's sign-in.
func TestAStrangersAskingNeverRefusesTheUserNorSpoilsTheirCode(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("TRUSTED_PROXIES", "127.0.0.1/32"))
	s.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada := s.NewBrowser()
	before := len(s.Log())
	if p := ada.Submit("/sign-in", url.Values{"email": {"ada@example.com"}}); p.Status != 200 {
		t.Fatalf("asking: %d", p.Status)
	}
	code := s.SignInCode("ada@example.com", before)
	refused := 0
	for n := range 60 {
		if asksFrom(t, s, "ada@example.com", fmt.Sprintf("198.51.100.%d", n%6)) == 429 {
			refused++
		}
	}
	if refused == 0 {
		t.Error("strangers may ask without end")
	}
	if got := asksFrom(t, s, "ada@example.com", "192.0.2.7"); got != 303 {
		t.Errorf("the user at another address: %d", got)
	}
	if p := ada.Submit("/sign-in/code", url.Values{"email": {"ada@example.com"}, "code": {code}}); ada.Session() == "" {
		t.Errorf("the code from before: %d", p.Status)
	}
}

// TestTheLastCodeIsGoodWhereNoMoreAreSent: after too many requests the last code that was sent stays valid.
func TestTheLastCodeIsGoodWhereNoMoreAreSent(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	s.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada, email := s.NewBrowser(), url.Values{"email": {"ada@example.com"}}
	code := ""
	for {
		before := len(s.Log())
		if ada.Submit("/sign-in", email).Status == 429 {
			break
		}
		code = s.SignInCode("ada@example.com", before)
	}
	if ada.Submit("/sign-in/code", url.Values{"email": {"ada@example.com"}, "code": {code}}); ada.Session() == "" {
		t.Error("the last code is of no use")
	}
}
