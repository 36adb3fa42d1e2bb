package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Sign-in, setup and sign-out (contract 3).

func identityRoutes() []route {
	return []route{
		{method: "GET", path: "/sign-in", open: true, page: signInPage},
		{method: "POST", path: "/sign-in", open: true, act: askForCode},
		{method: "GET", path: "/sign-in/code", open: true, page: codePage},
		{method: "POST", path: "/sign-in/code", open: true, act: signIn},
		{method: "GET", path: "/sign-in/link", open: true, page: linkPage},
		{method: "POST", path: "/sign-in/link", open: true, act: signInByLink},
		{method: "GET", path: "/setup", open: true, page: setupPage},
		{method: "POST", path: "/setup", open: true, act: setUp},
		{method: "POST", path: "/sign-out", act: signOut},
		{method: "POST", path: "/sign-out-everywhere", act: signOutEverywhere},
	}
}

type signInData struct {
	Email, Next, Link string
	HasMail           bool
	Problem           *problem
	Elsewhere         *problem // of a sign-in at the identity provider
}

func signInPage(v *pageRequest) (*page, error) {
	return &page{name: "sign-in", Title: "Sign in", Alone: true, Data: signInData{Next: local(v.query("next")), HasMail: v.cfg.HasMail}}, nil
}

// pending is the cookie of a sign-in that awaits its code.
const pending = "countersign-sign-in"

// askForCode sends a code. The response doesn't reveal whether the address is a user's.
func askForCode(v *pageRequest) (string, error) {
	secret, err := v.control.AskForCode(v.r.Context(), v.form("email"), v.from())
	if p := problemOf(err); p != nil && p.Code == countersign.CodeInvalidRequest {
		p.Sentence, p.Code = "This is no e-mail address.", ""
		return "", &page{name: "sign-in", status: http.StatusBadRequest, Title: "Sign in", Alone: true, Data: signInData{
			Email: v.form("email"), Next: local(v.form("next")), HasMail: v.cfg.HasMail, Problem: p,
		}}
	}
	if err != nil {
		return "", err
	}
	rememberAsked(v, secret)
	q := url.Values{"email": {v.form("email")}, "next": {local(v.form("next"))}}
	return "/sign-in/code?" + q.Encode(), nil
}

// rememberAsked stores the sign-in's secret in the browser; "" deletes it.
func rememberAsked(v *pageRequest, secret string) {
	cookie := &http.Cookie{Name: pending, Value: secret, Path: Prefix + "/sign-in", HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

func codePage(v *pageRequest) (*page, error) {
	return codeAgain(v, v.query("email"), v.query("next"), nil), nil
}

func codeAgain(v *pageRequest, email, next string, p *problem) *page {
	out := &page{name: "code", Title: "Your code", Alone: true, Data: signInData{Email: email, Next: local(next), HasMail: v.cfg.HasMail, Problem: p}}
	if p != nil {
		out.status = p.Code.Status()
	}
	return out
}

func signIn(v *pageRequest) (string, error) {
	secret := ""
	if cookie, err := v.r.Cookie(pending); err == nil {
		secret = cookie.Value
	}
	code := strings.Map(digits, v.form("code"))
	session, err := v.control.SignIn(v.r.Context(), secret, code, v.from(), v.actor)
	if countersign.ErrorCode(err) == countersign.CodeUnauthenticated {
		p := problemOf(err)
		p.Sentence, p.Detail, p.Code = "This code is not right, or not any more.", "Look at the newest one, or ask for another.", countersign.CodeUnauthenticated
		return "", codeAgain(v, v.form("email"), v.form("next"), p)
	}
	if err != nil {
		return "", err
	}
	rememberAsked(v, "")
	v.keep(session)
	return local(v.form("next")), nil
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
	Problem *problem
}

// linkPage asks before it uses a sign-in link up: mail scanners and previews follow links.
func linkPage(v *pageRequest) (*page, error) {
	secret := v.query("link")
	l, err := v.control.LookAtLink(v.r.Context(), secret)
	if err != nil {
		return badLink(err)
	}
	return &page{name: "sign-in-link", Title: "Sign in", Alone: true, Data: linkData{Link: l, Secret: secret}}, nil
}

// badLink is the page of a link that signs nobody in; another error stays as it is.
func badLink(err error) (*page, error) {
	e := refusalOf(err)
	if e == nil || e.Code != countersign.CodeUnauthenticated {
		return nil, err
	}
	p := problemOf(err)
	p.Sentence = text.Upper(e.Message) + "."
	return &page{name: "sign-in-link", status: http.StatusUnauthorized, Title: "Sign in", Alone: true, Data: linkData{Problem: p}}, nil
}

func signInByLink(v *pageRequest) (string, error) {
	session, err := v.control.SignInByLink(v.r.Context(), v.form("link"), v.from(), v.actor)
	if err != nil {
		again, err := badLink(err)
		if err != nil {
			return "", err
		}
		return "", again
	}
	v.keep(session)
	return "/", nil
}

func setupPage(v *pageRequest) (*page, error) {
	link := v.query("link")
	if err := v.control.CanSetUp(v.r.Context(), link); err != nil {
		if p := problemOf(err); p != nil {
			p.Sentence = noSetUp(err)
			return &page{name: "setup", status: http.StatusUnauthorized, Title: "Set up", Alone: true, Data: signInData{Problem: p}}, nil
		}
		return nil, err
	}
	return &page{name: "setup", Title: "Set up", Alone: true, Data: signInData{Link: link, HasMail: v.cfg.HasMail}}, nil
}

// noSetUp says why setup isn't possible; the usual sentence for unauthenticated speaks
// of a session.
func noSetUp(err error) string {
	if e := refusalOf(err); e.Code != countersign.CodeUnauthenticated {
		return problemOf(err).Sentence
	}
	return text.Upper(refusalOf(err).Message) + "."
}

func setUp(v *pageRequest) (string, error) {
	session, err := v.control.SetUp(v.r.Context(), v.form("link"), v.form("email"), v.from(), v.actor)
	if e := refusalOf(err); e != nil && e.Code != countersign.CodeUnavailable {
		p := problemOf(err)
		link := v.form("link")
		if e.Code == countersign.CodeInvalidRequest {
			p.Sentence, p.Detail, p.Code = "This is no e-mail address.", "", ""
		} else {
			link, p.Sentence = "", noSetUp(err)
		}
		return "", &page{name: "setup", status: e.Code.Status(), Title: "Set up", Alone: true, Data: signInData{Link: link, Email: v.form("email"), HasMail: v.cfg.HasMail, Problem: p}}
	}
	if err != nil {
		return "", err
	}
	v.keep(session)
	return "/", nil
}

func signOut(v *pageRequest) (string, error) { return endSession(v, v.control.SignOut) }

func signOutEverywhere(v *pageRequest) (string, error) {
	return endSession(v, v.control.SignOutEverywhere)
}

func endSession(v *pageRequest, end func(context.Context, control.Actor) error) (string, error) {
	if err := end(v.r.Context(), v.actor); err != nil {
		return "", err
	}
	v.keep("")
	return "/sign-in", nil
}
