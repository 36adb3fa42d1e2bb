package oidc_test

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/oidc"
	"github.com/countersign/countersign/internal/testing/oidctest"
)

// person is a user at an issuer, and the provider of the service.
type person struct {
	*oidctest.Issuer
	provider *oidc.Provider
	late     time.Duration // how far the provider's clock is ahead
}

func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{Issuer: oidctest.New(t)}
	p.provider = p.providerOf(p.URL)
	return p
}

func (p *person) providerOf(issuer string) *oidc.Provider {
	return oidc.New(oidc.Config{
		Issuer: issuer, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, RedirectURL: "http://127.0.0.1/callback",
		Now: func() time.Time { return time.Now().Add(p.late) },
	})
}

// begin signs in at the issuer and returns what it sends back.
func (p *person) begin(t *testing.T) (flow, state, code string) {
	t.Helper()
	address, flow, err := p.provider.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return flow, back.Query().Get("state"), back.Query().Get("code")
}

func TestAVerifiedAddressComesBack(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	flow, state, code := p.begin(t)
	if email, _, err := p.provider.Finish(t.Context(), flow, state, code); err != nil || email != "ada@example.com" {
		t.Errorf("%q %v", email, err)
	}
}

func TestClaimsThatAreTextsComeBack(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.Claims = map[string]any{"groups": []any{"finance", 7, "legal"}, "team": "blue", "level": 3}
	flow, state, code := p.begin(t)
	_, claims, err := p.provider.Finish(t.Context(), flow, state, code)
	if err != nil || !slices.Equal(claims["groups"], []string{"finance", "legal"}) || !slices.Equal(claims["team"], []string{"blue"}) || claims["level"] != nil {
		t.Errorf("%v %v", claims, err)
	}
}

func TestWhatATokenMustSay(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for name, c := range map[string]struct {
		claims map[string]any
		ok     bool
	}{
		"the usual":                    {nil, true},
		"verified as a text":           {map[string]any{"email_verified": "true"}, true},
		"several audiences, for us":    {map[string]any{"aud": []string{oidctest.ClientID, "other"}, "azp": oidctest.ClientID}, true},
		"another audience":             {map[string]any{"aud": "other"}, false},
		"for another client":           {map[string]any{"azp": "other"}, false},
		"several audiences, for other": {map[string]any{"aud": []string{oidctest.ClientID, "other"}, "azp": "other"}, false},
		"several audiences, for none":  {map[string]any{"aud": []string{oidctest.ClientID, "other"}}, false},
		"for us, and given to other":   {map[string]any{"azp": "other"}, false},
		"for us, and given to us":      {map[string]any{"azp": oidctest.ClientID}, true},
		"another nonce":                {map[string]any{"nonce": "other"}, false},
		"no nonce":                     {map[string]any{"nonce": nil}, false},
		"another issuer":               {map[string]any{"iss": "https://evil.example"}, false},
		"expired":                      {map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}, false},
		"unverified":                   {map[string]any{"email_verified": false}, false},
		"nothing of verified":          {map[string]any{"email_verified": nil}, false},
		"verified by a number":         {map[string]any{"email_verified": 1}, false},
		"no address":                   {map[string]any{"email": nil}, false},
	} {
		p.Claims = c.claims
		flow, state, code := p.begin(t)
		email, _, err := p.provider.Finish(t.Context(), flow, state, code)
		if (err == nil) != c.ok || (email != "") != c.ok {
			t.Errorf("%s: %q %v", name, email, err)
		}
	}
}

// TestARefusedSignInSaysWhyInTheLog: visitors are told no more than that it failed.
func TestARefusedSignInSaysWhyInTheLog(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	finished := func(claims, info map[string]any) error {
		p.Claims, p.UserInfo = claims, info
		flow, state, code := p.begin(t)
		_, _, err := p.provider.Finish(t.Context(), flow, state, code)
		return err
	}
	without := map[string]any{"email": nil, "email_verified": nil}
	bare := newPerson(t)
	bare.Bare = true
	flow, state, code := bare.begin(t)
	_, _, noToken := bare.provider.Finish(t.Context(), flow, state, code)
	flow, state, _ = p.begin(t)
	_, _, noCode := p.provider.Finish(t.Context(), flow, state, "none")
	_, _, noFlow := p.provider.Finish(t.Context(), "x", "y", "z")
	for _, test := range []struct {
		err  error
		want string
	}{
		{noToken, "the provider gave no ID token"},
		{noCode, "the provider gave no token: "},
		{noFlow, "oidc: this sign-in was not begun in this browser, was used, or took too long"},
		{finished(map[string]any{"email_verified": false}, nil), "oidc: the provider has not verified an e-mail address"},
		{finished(map[string]any{"nonce": "other"}, nil), "the ID token was made for another sign-in"},
		{finished(map[string]any{"azp": "other"}, nil), "the ID token was made for another client too"},
		{finished(without, map[string]any{"sub": "other"}), "the userinfo answer is about another user"},
		{finished(map[string]any{"email": 1}, nil), "the ID token's claims: json: cannot unmarshal number into Go struct field claims.email of type string"},
		{finished(map[string]any{"aud": "other"}, nil), `the ID token: oidc: expected audience "countersign" got ["other"]`},
	} {
		if test.err == nil || test.err.Error() != test.want && (test.want != "the provider gave no token: " || !strings.HasPrefix(test.err.Error(), test.want)) {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}

func TestAForgedTokenIsRefused(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.Forge = true
	flow, state, code := p.begin(t)
	if email, _, err := p.provider.Finish(t.Context(), flow, state, code); err == nil {
		t.Errorf("%q was believed", email)
	}
}

func TestAnAddressOfTheUsersDescriptionCountsForTheSameUserOnly(t *testing.T) {
	t.Parallel()
	for subject, ok := range map[string]bool{"subject": true, "other": false} {
		p := newPerson(t)
		p.Claims = map[string]any{"email": nil, "email_verified": nil}
		p.UserInfo = map[string]any{"sub": subject, "email": "ada@example.com", "email_verified": true}
		flow, state, code := p.begin(t)
		if email, _, err := p.provider.Finish(t.Context(), flow, state, code); (err == nil) != ok {
			t.Errorf("%s: %q %v", subject, email, err)
		}
	}
}

func TestAFlowIsOfOneBrowserAndGoodOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	flow, state, code := p.begin(t)
	other, otherState, otherCode := p.begin(t)
	for name, try := range map[string][3]string{
		"another browser's flow": {other, state, code},
		"no flow":                {"", state, code},
		"garbage":                {"a.b.c", state, code},
		"no state":               {flow, "", code},
		"no code":                {flow, state, ""},
	} {
		if _, _, err := p.provider.Finish(t.Context(), try[0], try[1], try[2]); !errors.Is(err, oidc.ErrFlow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := p.provider.Finish(t.Context(), other, otherState, code); err == nil {
		t.Error("a code was taken with another flow's verifier")
	}
	flow, state, code = p.begin(t)
	if _, _, err := p.provider.Finish(t.Context(), flow, state, code); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.provider.Finish(t.Context(), flow, state, otherCode); !errors.Is(err, oidc.ErrFlow) {
		t.Errorf("the same state again: %v", err)
	}
}

func TestAFlowTakesTenMinutesAtMost(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	flow, state, code := p.begin(t)
	p.late = oidc.FlowLife + time.Second
	if _, _, err := p.provider.Finish(t.Context(), flow, state, code); !errors.Is(err, oidc.ErrFlow) {
		t.Errorf("%v", err)
	}
}

func TestAnIssuerThatCannotBeReachedIsAskedAgain(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close() // nothing listens on this port now
	away := p.providerOf("http://" + listener.Addr().String())
	if _, _, err := away.Begin(t.Context()); err == nil {
		t.Error("nobody answered, and it went on")
	}
	if _, _, err := p.providerOf(p.URL + "/other").Begin(t.Context()); err == nil {
		t.Error("a description at another address counts")
	}
	p.provider = p.providerOf(p.URL)
	if address, _, err := p.provider.Begin(t.Context()); err != nil || !strings.HasPrefix(address, p.URL) {
		t.Errorf("%s %v", address, err)
	}
}
