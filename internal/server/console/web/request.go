package web

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
)

// Request is one request and its user.
type Request struct {
	*Site
	W      http.ResponseWriter
	R      *http.Request
	Now    time.Time
	Actor  control.Actor // empty without a session
	Secret string        // of the session
}

// Size limits of forms. A signed-in user may send a model's document; a stranger only
// an e-mail address or a code, so that many open requests can't fill the memory
// (contract 11).
const (
	maxForm      = countersign.MaxBodyBytes + 64<<10
	maxStrangers = countersign.MaxOpenBytes
)

// serve runs a route. A successful action answers 303, so that reloading the page
// repeats nothing.
func (s *Site) serve(rt Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &Request{Site: s, W: w, Now: s.Config.Now(), Actor: control.Actor{RequestID: s.Config.NewID("req"), Door: countersign.DoorConsole}}
		v.R = r.WithContext(telemetry.WithRequestID(r.Context(), v.Actor.RequestID))
		if rt.Method != "" {
			telemetry.Route(w, rt.Method+" "+Prefix+rt.Path)
		}
		defer recoverFrom(v)
		w.Header().Set("X-Request-Id", v.Actor.RequestID)
		if err := enter(v, rt); err != nil {
			failWith(v, err)
			return
		}
		perform(v, rt)
	}
}

func perform(v *Request, rt Route) {
	switch {
	case rt.Stream != nil:
		if err := rt.Stream(v); err != nil {
			failWith(v, err)
		}
	case rt.Act != nil:
		to, err := rt.Act(v)
		if again, ok := errors.AsType[*Page](err); ok {
			v.show(again)
		} else if err != nil {
			failWith(v, err)
		} else {
			http.Redirect(v.W, v.R, Prefix+to, http.StatusSeeOther)
		}
	default:
		p, err := rt.Page(v)
		if err != nil {
			failWith(v, err)
			return
		}
		v.show(p)
	}
}

// enter authenticates the visitor and refuses unsafe requests that don't come from the
// console's own pages.
func enter(v *Request, rt Route) error {
	unsafe := v.R.Method != http.MethodGet && v.R.Method != http.MethodHead
	unknown := v.Recognize()
	if unsafe {
		if v.origins.Check(v.R) != nil {
			return countersign.Errorf(countersign.CodeCSRF, "this form was sent from another site; open the page here and try again")
		}
		if unknown == nil && rt.Upload != "" && access.Allow(v.Actor.Principal, rt.Upload) != nil {
			return v.Control.Authorize(v.R.Context(), v.Actor, rt.Upload, "project/")
		}
		err := readForm(v, rt)
		if unknown == nil { // as of when the request is whole: the form may have taken minutes
			unknown = v.Recognize()
		}
		if err != nil && (unknown == nil || rt.Open) {
			return err
		}
	}
	if unknown != nil {
		if rt.Open && countersign.ErrorCode(unknown) == countersign.CodeUnauthenticated {
			return nil
		}
		return unknown
	}
	if unsafe && !rt.Open && !access.ValidCSRF(v.Secret, v.R.PostForm.Get("csrf")) {
		refused := countersign.Errorf(countersign.CodeCSRF, "this form belongs to another sign-in; open the page again")
		return v.Control.Refuse(v.R.Context(), v.Actor, access.SignIn, "user/"+v.Actor.Email, refused)
	}
	return nil
}

// readForm reads the form, within the limit for strangers unless there is a session.
func readForm(v *Request, rt Route) error {
	most := int64(maxStrangers)
	switch {
	case v.signedIn() && rt.Upload != "":
		most = rt.Largest
	case v.signedIn():
		most = maxForm
	}
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, most)
	var err error
	if kind, _, _ := mime.ParseMediaType(v.R.Header.Get("Content-Type")); rt.Upload != "" && kind == "multipart/form-data" {
		err = v.R.ParseMultipartForm(most) // all of it in memory
	} else {
		err = v.R.ParseForm()
	}
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return countersign.Errorf(countersign.CodePayloadTooLarge, "the form is larger than %d bytes", most)
	case err != nil:
		return countersign.Errorf(countersign.CodeInvalidRequest, "the form could not be read")
	}
	return nil
}

// Recognize authenticates by the session cookie.
func (r *Request) Recognize() error {
	r.Actor.Principal, r.Secret = access.Principal{}, ""
	var secrets []string
	for _, cookie := range r.R.CookiesNamed(access.CookieName(r.Secure())) {
		secrets = append(secrets, cookie.Value)
	}
	if len(secrets) == 0 {
		return countersign.Errorf(countersign.CodeUnauthenticated, "you are not signed in")
	}
	p, secret, err := r.Control.AuthenticateSessions(r.R.Context(), secrets)
	if err != nil {
		return err
	}
	r.Actor.Principal, r.Secret = p, secret
	return nil
}

func (r *Request) signedIn() bool { return r.Actor.Session != "" }

// Keep stores the session in the browser; "" deletes it.
func (r *Request) Keep(session string) {
	cookie := &http.Cookie{
		Name: access.CookieName(r.Secure()), Value: session, Path: "/", HttpOnly: true, Secure: r.Secure(),
		SameSite: http.SameSiteLaxMode, MaxAge: int(access.SessionAbsolute.Seconds()),
	}
	if session == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(r.W, cookie)
}

// Form is a field of the form without surrounding spaces.
func (r *Request) Form(name string) string { return strings.TrimSpace(r.R.PostForm.Get(name)) }

// Query is a parameter of the address.
func (r *Request) Query(name string) string { return r.R.URL.Query().Get(name) }

// From is the client's network address. X-Forwarded-For counts only as far as trusted
// proxies wrote it.
func (r *Request) From() string {
	host, _, err := net.SplitHostPort(r.R.RemoteAddr)
	if err != nil {
		return r.R.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.R.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(r, host); i-- {
		next, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		host = next
	}
	return host
}

// hop is an address that a proxy wrote, without an optional port.
func hop(text string) (host string, ok bool) {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().String(), true
	}
	if len(text) > 1 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	_, err := netip.ParseAddr(text)
	return text, err == nil
}

func isTrusted(v *Request, host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(v.Config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// failWith shows an error page. Without a session, a GET redirects to the sign-in, which
// leads back to the page.
func failWith(v *Request, err error) {
	e := RefusalOf(err)
	if e == nil {
		if errors.Is(err, control.ErrTooMany) {
			v.show(tooMany())
			return
		}
		if v.R.Context().Err() == nil {
			v.Config.Log.ErrorContext(v.R.Context(), "page failed", "method", v.R.Method, "path", v.R.URL.Path, "error", err)
		}
		e = countersign.Errorf(countersign.CodeInternal, "request %s", v.Actor.RequestID)
	}
	live := strings.Contains(v.R.Header.Get("Accept"), "text/event-stream") // a live stream needs the error, not a redirect
	if e.Code == countersign.CodeUnauthenticated && v.R.Method == http.MethodGet && !live {
		http.Redirect(v.W, v.R, Prefix+"/sign-in?next="+url.QueryEscape(strings.TrimPrefix(v.R.URL.RequestURI(), Prefix)), http.StatusSeeOther)
		return
	}
	v.show(errorPage(v, e))
}

// recoverFrom turns a panic into an error page; open transactions were rolled back.
func recoverFrom(v *Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, compared as it documents
		panic(cause)
	}
	v.Config.Log.ErrorContext(v.R.Context(), "panic", "cause", cause, "stack", string(debug.Stack()))
	v.show(errorPage(v, countersign.Errorf(countersign.CodeInternal, "request %s", v.Actor.RequestID)))
}

// May checks that the visitor may perform an operation. A refused POST is recorded in
// the audit log, as for the API.
func (r *Request) May(op access.Operation) error {
	if r.R.Method != http.MethodPost {
		return access.Allow(r.Actor.Principal, op)
	}
	return r.Control.Authorize(r.R.Context(), r.Actor, op, subjectOf(r, op))
}

// subjectOf is what a request is about, for the audit log: what its address names, or its form.
func subjectOf(v *Request, op access.Operation) string {
	return access.Subject(v.Actor.Principal, op, func(name string) string { return cmp.Or(v.R.PathValue(name), v.Form(name)) })
}

// Can reports whether the visitor may perform an operation.
func (r *Request) Can(op access.Operation) bool {
	return access.Allow(r.Actor.Principal, op) == nil
}

// Fragment writes one block of a page, which htmx swaps into the open page.
func (r *Request) Fragment(p *Page, block string) error {
	var b bytes.Buffer
	p.Alone = true // skips reading the frame's counts and banners
	if err := r.render(&b, p, block); err != nil {
		return err
	}
	r.W.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = b.WriteTo(r.W) // the visitor may have disconnected
	return nil
}
