package access

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Sign-in, setup and sign-out (contract 3).

func identityRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/sign-in", Open: true, Page: signInPage},
		{Method: "POST", Path: "/sign-in", Open: true, Act: askForCode},
		{Method: "GET", Path: "/sign-in/code", Open: true, Page: codePage},
		{Method: "POST", Path: "/sign-in/code", Open: true, Act: signIn},
		{Method: "GET", Path: "/sign-in/link", Open: true, Page: linkPage},
		{Method: "POST", Path: "/sign-in/link", Open: true, Act: signInByLink},
		{Method: "GET", Path: "/setup", Open: true, Page: setupPage},
		{Method: "POST", Path: "/setup", Open: true, Act: setUp},
		{Method: "POST", Path: "/sign-out", Act: signOut},
		{Method: "POST", Path: "/sign-out-everywhere", Act: signOutEverywhere},
	}
}

type signInData struct {
	Email, Next, Link string
	HasMail           bool
	Problem           *web.Problem
	Elsewhere         *web.Problem // of a sign-in at the identity provider
}

func signInPage(v *web.Request) (*web.Page, error) {
	return &web.Page{Name: "sign-in", Title: "Sign in", Alone: true, Data: signInData{Next: web.Local(v.Query("next")), HasMail: v.Config.HasMail}}, nil
}

// pending is the cookie of a sign-in that awaits its code.
const pending = "countersign-sign-in"

// askForCode sends a code. The response doesn't reveal whether the address is a user's.
func askForCode(v *web.Request) (string, error) {
	secret, err := v.Control.AskForCode(v.R.Context(), v.Form("email"), v.From())
	if p := web.ProblemOf(err); p != nil && p.Code == countersign.CodeInvalidRequest {
		p.Sentence, p.Code = "This is no e-mail address.", ""
		return "", &web.Page{Name: "sign-in", Status: http.StatusBadRequest, Title: "Sign in", Alone: true, Data: signInData{
			Email: v.Form("email"), Next: web.Local(v.Form("next")), HasMail: v.Config.HasMail, Problem: p,
		}}
	}
	if err != nil {
		return "", notThisWay(v, err)
	}
	rememberAsked(v, secret)
	q := url.Values{"email": {v.Form("email")}, "next": {web.Local(v.Form("next"))}}
	return "/sign-in/code?" + q.Encode(), nil
}

// rememberAsked stores the sign-in's secret in the browser; "" deletes it.
func rememberAsked(v *web.Request, secret string) {
	cookie := &http.Cookie{Name: pending, Value: secret, Path: web.Prefix + "/sign-in", HttpOnly: true, Secure: v.Secure(), SameSite: http.SameSiteLaxMode}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.W, cookie)
}

func codePage(v *web.Request) (*web.Page, error) {
	return codeAgain(v, v.Query("email"), v.Query("next"), nil), nil
}

func codeAgain(v *web.Request, email, next string, p *web.Problem) *web.Page {
	out := &web.Page{Name: "code", Title: "Your code", Alone: true, Data: signInData{Email: email, Next: web.Local(next), HasMail: v.Config.HasMail, Problem: p}}
	if p != nil {
		out.Status = p.Code.Status()
	}
	return out
}

func signIn(v *web.Request) (string, error) {
	secret := ""
	if cookie, err := v.R.Cookie(pending); err == nil {
		secret = cookie.Value
	}
	code := strings.Map(digits, v.Form("code"))
	session, err := v.Control.SignIn(v.R.Context(), secret, code, v.From(), v.Actor)
	if countersign.ErrorCode(err) == countersign.CodeUnauthenticated {
		p := web.ProblemOf(err)
		p.Sentence, p.Detail, p.Code = "This code is not right, or not any more.", "Look at the newest one, or ask for another.", countersign.CodeUnauthenticated
		return "", codeAgain(v, v.Form("email"), v.Form("next"), p)
	}
	if err != nil {
		return "", notThisWay(v, err)
	}
	rememberAsked(v, "")
	v.Keep(session)
	return web.Local(v.Form("next")), nil
}

// notThisWay is the sign-in page where the identity provider alone begins sessions, and another error
// as it is.
func notThisWay(v *web.Request, err error) error {
	if e := web.RefusalOf(err); e == nil || e.Code != countersign.CodeStateConflict || !v.Config.ProviderAlone {
		return err
	}
	return elsewhereFailed(v, http.StatusConflict, text.Upper(web.RefusalOf(err).Message)+".", "", web.Local(v.Form("next")))
}

// digits drops the characters that people type between digits.
func digits(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

type linkData struct {
	control.Link
	Secret  string
	Problem *web.Problem
}

// linkPage asks before it uses a sign-in link up: mail scanners and previews follow links.
func linkPage(v *web.Request) (*web.Page, error) {
	secret := v.Query("link")
	l, err := v.Control.LookAtLink(v.R.Context(), secret)
	if err != nil {
		if p, is := errors.AsType[*web.Page](notThisWay(v, err)); is {
			return p, nil
		}
		return badLink(err)
	}
	return &web.Page{Name: "sign-in-link", Title: "Sign in", Alone: true, Data: linkData{Link: l, Secret: secret}}, nil
}

// badLink is the page of a link that signs nobody in; another error stays as it is.
func badLink(err error) (*web.Page, error) {
	e := web.RefusalOf(err)
	if e == nil || e.Code != countersign.CodeUnauthenticated {
		return nil, err
	}
	p := web.ProblemOf(err)
	p.Sentence = text.Upper(e.Message) + "."
	return &web.Page{Name: "sign-in-link", Status: http.StatusUnauthorized, Title: "Sign in", Alone: true, Data: linkData{Problem: p}}, nil
}

func signInByLink(v *web.Request) (string, error) {
	session, err := v.Control.SignInByLink(v.R.Context(), v.Form("link"), v.From(), v.Actor)
	if err != nil {
		again, err := badLink(notThisWay(v, err))
		if err != nil {
			return "", err
		}
		return "", again
	}
	v.Keep(session)
	return "/", nil
}

func setupPage(v *web.Request) (*web.Page, error) {
	link := v.Query("link")
	if err := v.Control.CanSetUp(v.R.Context(), link); err != nil {
		if p := web.ProblemOf(err); p != nil {
			p.Sentence = noSetUp(err)
			return &web.Page{Name: "setup", Status: http.StatusUnauthorized, Title: "Set up", Alone: true, Data: signInData{Problem: p}}, nil
		}
		return nil, err
	}
	return &web.Page{Name: "setup", Title: "Set up", Alone: true, Data: signInData{Link: link, HasMail: v.Config.HasMail}}, nil
}

// noSetUp says why setup isn't possible; the usual sentence for unauthenticated speaks
// of a session.
func noSetUp(err error) string {
	if e := web.RefusalOf(err); e.Code != countersign.CodeUnauthenticated {
		return web.ProblemOf(err).Sentence
	}
	return text.Upper(web.RefusalOf(err).Message) + "."
}

func setUp(v *web.Request) (string, error) {
	session, err := v.Control.SetUp(v.R.Context(), v.Form("link"), v.Form("email"), v.From(), v.Actor)
	if e := web.RefusalOf(err); e != nil && e.Code != countersign.CodeUnavailable {
		p := web.ProblemOf(err)
		link := v.Form("link")
		if e.Code == countersign.CodeInvalidRequest {
			p.Sentence, p.Detail, p.Code = "This is no e-mail address.", "", ""
		} else {
			link, p.Sentence = "", noSetUp(err)
		}
		return "", &web.Page{Name: "setup", Status: e.Code.Status(), Title: "Set up", Alone: true, Data: signInData{Link: link, Email: v.Form("email"), HasMail: v.Config.HasMail, Problem: p}}
	}
	if err != nil {
		return "", err
	}
	v.Keep(session)
	return "/", nil
}

func signOut(v *web.Request) (string, error) { return endSession(v, v.Control.SignOut) }

func signOutEverywhere(v *web.Request) (string, error) {
	return endSession(v, v.Control.SignOutEverywhere)
}

func endSession(v *web.Request, end func(context.Context, control.Actor) error) (string, error) {
	if err := end(v.R.Context(), v.Actor); err != nil {
		return "", err
	}
	v.Keep("")
	return "/sign-in", nil
}
