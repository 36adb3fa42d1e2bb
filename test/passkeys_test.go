package test

import (
	encoding "encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/authenticator"
	"github.com/countersign/countersign/test/harness"
)

// asksForPasskey is what the script of the pages gets.
func asksForPasskey(t *testing.T, b *harness.Browser, path string, form url.Values) (question string, options []byte) {
	t.Helper()
	p := b.Submit(path, form)
	var asked struct {
		Question string
		Options  encoding.RawMessage
	}
	if err := encoding.Unmarshal([]byte(p.Text), &asked); p.Status != 200 || err != nil {
		t.Fatalf("%d %v %s", p.Status, err, p.Text)
	}
	return asked.Question, asked.Options
}

func (w *world) csrfField(t *testing.T, b *harness.Browser) url.Values {
	t.Helper()
	return url.Values{"csrf": {strings.TrimPrefix(string(w.csrf(t, b)), "X-CSRF-Token: ")}}
}

func TestAPasskeyIsAddedInTheSettingsAndSignsIn(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost:8080"
	w := ownWorld(t, harness.Set("PUBLIC_URL", origin))
	ada := w.person(t, "ada@example.com", "APPROVER")
	device := authenticator.New(t, origin, "localhost")
	if p := ada.Submit("/settings/passkeys/ask", url.Values{}); p.Status != 403 {
		t.Errorf("without its CSRF token: %d", p.Status)
	}
	form := w.csrfField(t, ada)
	question, options := asksForPasskey(t, ada, "/settings/passkeys/ask", form)
	form.Set("question", question)
	form.Set("answer", device.Create(options))
	form.Set("name", " ")
	if p := ada.Submit("/settings/passkeys", form); p.Status != 400 {
		t.Errorf("without a name: %d", p.Status)
	}
	form.Set("name", "phone <b>")
	if p := ada.Submit("/settings/passkeys", form); p.Status != 200 || !strings.Contains(p.Text, "phone &lt;b&gt;") {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
	again := w.NewBrowser()
	if p := again.Open("/sign-in?next=/settings"); !strings.Contains(p.Text, "Sign in with a passkey") || !strings.Contains(p.Text, "/console/assets/passkey.js") {
		t.Error("the page offers no passkey")
	}
	signIn := func() *harness.Page {
		question, options := asksForPasskey(t, again, "/sign-in/passkey/ask", url.Values{})
		return again.Submit("/sign-in/passkey", url.Values{"question": {question}, "answer": {device.Get(options)}, "next": {"/settings"}})
	}
	device.Unverified = true
	if p := signIn(); p.Status != 401 || again.Session() != "" || !strings.Contains(p.Text, "did not sign you in") {
		t.Errorf("a user who wasn't verified: %d", p.Status)
	}
	device.Unverified = false
	if p := signIn(); p.Status != 200 || p.URL.Path != "/console/settings" {
		t.Fatalf("%d at %s", p.Status, p.URL)
	}
	w.Keep(again.Session())
	w.As("").Get("/session", again.Cookie()).OK(t).Is(t, "email", "ada@example.com").Is(t, "tenants", []string{"default"}).Is(t, "linkMakers", harness.Absent)
	log := w.Admin.Get("/audit?subject=user/ada@example.com").OK(t)
	log.Is(t, "items.0.action", "sessions.create").Is(t, "items.0.reason", "with the passkey phone <b>").Is(t, "items.1.action", "passkeys.create")
	w.Admin.Delete("/users/ada@example.com").OK(t)
	if p := signIn(); p.Status != 401 {
		t.Errorf("who was removed: %d", p.Status)
	}
}

// TestAnAddressThatBrowsersAllowNoPasskeysForSaysSo: the default is a network address.
func TestAnAddressThatBrowsersAllowNoPasskeysForSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	if p := ada.Open("/settings"); !strings.Contains(p.Text, "Browsers allow passkeys only at") {
		t.Error("the settings don't say so")
	}
	if p := ada.Open("/sign-in"); strings.Contains(p.Text, "passkey") {
		t.Error("the sign-in offers one")
	}
	for path, form := range map[string]url.Values{"/sign-in/passkey/ask": nil, "/sign-in/passkey": nil, "/settings/passkeys/ask": w.csrfField(t, ada)} {
		if p := ada.Submit(path, form); p.Status != 409 {
			t.Errorf("%s: %d", path, p.Status)
		}
	}
}
