package access

import (
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

// flowLife is how long a sign-in at the identity provider may take.
const flowLife = 10 * time.Minute

func verifierRoutes(provider web.Verifier) []web.Route {
	if provider == nil {
		return nil
	}
	return []web.Route{
		{Method: "POST", Path: "/oidc", Open: true, Act: beginElsewhere},
		{Method: "GET", Path: "/oidc/callback", Open: true, Act: finishElsewhere},
	}
}

type elsewhereData struct{ Host, Address string }

// beginElsewhere answers with a page that refreshes to the provider instead of a
// redirect: the policy's form-action covers redirects of forms too.
func beginElsewhere(v *web.Request) (string, error) {
	if err := v.Control.Begin(v.R.Context(), v.From()); err != nil {
		return "", err
	}
	address, flow, err := v.Config.Verifier.Begin(v.R.Context())
	if err != nil {
		v.Config.Log.WarnContext(v.R.Context(), "sign-in elsewhere not begun", "error", err)
		return "", elsewhereFailed(v, http.StatusBadGateway, v.Config.Verifier.Host()+" can't be reached now.", laterOrByCode(v), web.Local(v.Form("next")))
	}
	hold(v, url.Values{"flow": {flow}, "next": {web.Local(v.Form("next"))}}.Encode())
	v.W.Header().Set("Refresh", "0; url="+address)
	return "", &web.Page{Name: "elsewhere", Title: "Signing in", Alone: true, Data: elsewhereData{v.Config.Verifier.Host(), address}}
}

func laterOrByCode(v *web.Request) string {
	if v.Config.ProviderAlone {
		return "Try again in a while."
	}
	return "Try again in a while, or sign in with a code."
}

// finishElsewhere is the only GET that signs somebody in, since the provider redirects
// here. It works once, in the browser that started the flow.
func finishElsewhere(v *web.Request) (string, error) {
	if err := v.Control.Try(v.R.Context(), v.From()); err != nil {
		return "", err
	}
	held := held(v)
	hold(v, "")
	next := web.Local(held.Get("next"))
	if v.Query("error") != "" {
		return "", elsewhereFailed(v, http.StatusUnauthorized, v.Config.Verifier.Host()+" did not sign you in.", "", next)
	}
	email, claims, err := v.Config.Verifier.Finish(v.R.Context(), held.Get("flow"), v.Query("state"), v.Query("code"))
	if err != nil {
		v.Config.Log.WarnContext(v.R.Context(), "sign-in elsewhere refused", "error", err)
		return "", elsewhereFailed(v, http.StatusUnauthorized, "This sign-in could not be finished.", "It belongs to another browser, took too long, or your e-mail address is not verified at "+v.Config.Verifier.Host()+". Begin again.", next)
	}
	session, err := v.Control.SignInClaiming(v.R.Context(), email, claims, v.From(), v.Actor)
	switch countersign.ErrorCode(err) {
	case countersign.CodeUnauthenticated, countersign.CodeInvalidRequest:
		return "", elsewhereFailed(v, http.StatusForbidden, email+" is not a user here.", "An admin can add it under Access; then sign in again.", next)
	}
	if err != nil {
		return "", err
	}
	v.Keep(session)
	return next, nil
}

// elsewhereFailed is the sign-in page with the error.
func elsewhereFailed(v *web.Request, status int, sentence, detail, next string) error {
	return &web.Page{Name: "sign-in", Status: status, Title: "Sign in", Alone: true, Data: signInData{
		Next: next, HasMail: v.Config.HasMail, Elsewhere: &web.Problem{Sentence: sentence, Detail: detail},
	}}
}

// flowCookie holds the flow of a sign-in at the provider. With HTTPS, the __Host-
// prefix keeps other hosts of the domain from setting it.
func flowCookie(v *web.Request) string {
	if v.Secure() {
		return "__Host-countersign-oidc"
	}
	return "countersign-oidc"
}

// hold stores the flow in the browser; "" deletes it.
func hold(v *web.Request, text string) {
	cookie := &http.Cookie{Name: flowCookie(v), Value: text, Path: "/", HttpOnly: true, Secure: v.Secure(), SameSite: http.SameSiteLaxMode, MaxAge: int(flowLife.Seconds())}
	if text == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.W, cookie)
}

func held(v *web.Request) url.Values {
	cookie, err := v.R.Cookie(flowCookie(v))
	if err != nil {
		return nil
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return nil
	}
	return values
}
