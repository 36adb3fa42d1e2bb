package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/test/harness"
)

// TestAPasskeyIsAddedAndSignsIn, by the browser's own dialog: added in the settings, then signed out, then signed in with it alone.
func TestAPasskeyIsAddedAndSignsIn(t *testing.T) {
	if !started(t) {
		return
	}
	address := harness.UnusedAddress(t)
	_, port, _ := strings.Cut(address, ":")
	public := "http://localhost:" + port // browsers allow no passkeys for a network address
	s := harness.Start(t, harness.Set("LISTEN", address), harness.Set("PUBLIC_URL", public), harness.Set("ADMIN_EMAIL", "ada@example.com"))
	s.URL = public
	ada := newTab(t, s)
	ada.hasAuthenticator()
	ada.signIn("ada@example.com")
	ada.open("/settings")
	ada.fill("#passkey-name", "this laptop")
	ada.press("#passkeys", "Add a passkey")
	ada.sees("this laptop")
	ada.judge("settings with a passkey", "as it is")
	ada.press("main", "Sign out")
	ada.at("/sign-in")
	ada.judge("sign-in with passkeys", "as it is")
	ada.press("main", "Sign in with a passkey")
	ada.until("to be signed in", `document.readyState === "complete" && !!document.querySelector(".side__foot")`)
	ada.open("/settings")
	ada.sees("ada@example.com")
	ada.press("#passkeys", "Remove")
	ada.until("the passkey to be gone", `!document.body.innerText.includes("this laptop")`)
	ada.press("main", "Sign out")
	ada.at("/sign-in")
	ada.click("main", "Sign in with a passkey", "window.left = false")
	ada.sees("This passkey did not sign you in.")
}

// hasAuthenticator gives the tab a virtual authenticator that verifies its user.
func (p *tab) hasAuthenticator() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		p.t.Fatal(err)
	}
	present := webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}}
	if _, err := chromedp.Call(p.ctx, webauthn.AddVirtualAuthenticator, present); err != nil {
		p.t.Fatal(err)
	}
}
