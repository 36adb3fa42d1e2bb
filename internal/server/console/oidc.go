package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign"
)

// flowLife is how long a sign-in at the identity provider may take.
const flowLife = 10 * time.Minute

func verifierRoutes(provider Verifier) []route {
	if provider == nil {
		return nil
	}
	return []route{
		{method: "POST", path: "/oidc", open: true, act: beginElsewhere},
		{method: "GET", path: "/oidc/callback", open: true, act: finishElsewhere},
	}
}

type elsewhereData struct{ Host, Address string }

// beginElsewhere answers with a page that refreshes to the provider instead of a
// redirect: the policy's form-action covers redirects of forms too.
func beginElsewhere(v *pageRequest) (string, error) {
	if err := v.control.Begin(v.r.Context(), v.from()); err != nil {
		return "", err
	}
	address, flow, err := v.cfg.Verifier.Begin(v.r.Context())
	if err != nil {
		v.cfg.Log.WarnContext(v.r.Context(), "sign-in elsewhere not begun", "error", err)
		return "", elsewhereFailed(v, http.StatusBadGateway, v.cfg.Verifier.Host()+" can't be reached now.", "Try again in a while, or sign in with a code.", local(v.form("next")))
	}
	hold(v, url.Values{"flow": {flow}, "next": {local(v.form("next"))}}.Encode())
	v.w.Header().Set("Refresh", "0; url="+address)
	return "", &page{name: "elsewhere", Title: "Signing in", Alone: true, Data: elsewhereData{v.cfg.Verifier.Host(), address}}
}

// finishElsewhere is the only GET that signs somebody in, since the provider redirects
// here. It works once, in the browser that started the flow.
func finishElsewhere(v *pageRequest) (string, error) {
	if err := v.control.Try(v.r.Context(), v.from()); err != nil {
		return "", err
	}
	held := held(v)
	hold(v, "")
	next := local(held.Get("next"))
	if v.query("error") != "" {
		return "", elsewhereFailed(v, http.StatusUnauthorized, v.cfg.Verifier.Host()+" did not sign you in.", "", next)
	}
	email, claims, err := v.cfg.Verifier.Finish(v.r.Context(), held.Get("flow"), v.query("state"), v.query("code"))
	if err != nil {
		v.cfg.Log.WarnContext(v.r.Context(), "sign-in elsewhere refused", "error", err)
		return "", elsewhereFailed(v, http.StatusUnauthorized, "This sign-in could not be finished.", "It belongs to another browser, took too long, or your e-mail address is not verified at "+v.cfg.Verifier.Host()+". Begin again.", next)
	}
	session, err := v.control.SignInClaiming(v.r.Context(), email, claims, v.from(), v.actor)
	switch countersign.ErrorCode(err) {
	case countersign.CodeUnauthenticated, countersign.CodeInvalidRequest:
		return "", elsewhereFailed(v, http.StatusForbidden, email+" is not a user here.", "An admin can add it under Access; then sign in again.", next)
	}
	if err != nil {
		return "", err
	}
	v.keep(session)
	return next, nil
}

// elsewhereFailed is the sign-in page with the error.
func elsewhereFailed(v *pageRequest, status int, sentence, detail, next string) error {
	return &page{name: "sign-in", status: status, Title: "Sign in", Alone: true, Data: signInData{
		Next: next, HasMail: v.cfg.HasMail, Elsewhere: &problem{Sentence: sentence, Detail: detail},
	}}
}

// flowCookie holds the flow of a sign-in at the provider. With HTTPS, the __Host-
// prefix keeps other hosts of the domain from setting it.
func flowCookie(v *pageRequest) string {
	if v.secure() {
		return "__Host-countersign-oidc"
	}
	return "countersign-oidc"
}

// hold stores the flow in the browser; "" deletes it.
func hold(v *pageRequest, text string) {
	cookie := &http.Cookie{Name: flowCookie(v), Value: text, Path: "/", HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode, MaxAge: int(flowLife.Seconds())}
	if text == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

func held(v *pageRequest) url.Values {
	cookie, err := v.r.Cookie(flowCookie(v))
	if err != nil {
		return nil
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return nil
	}
	return values
}
