package console

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

// pageRequest is one request and its user.
type pageRequest struct {
	*site
	w      http.ResponseWriter
	r      *http.Request
	now    time.Time
	actor  control.Actor // empty without a session
	secret string        // of the session
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
func (c *site) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{site: c, w: w, now: c.cfg.Now(), actor: control.Actor{RequestID: c.cfg.NewID("req")}}
		v.r = r.WithContext(telemetry.WithRequestID(r.Context(), v.actor.RequestID))
		if rt.method != "" {
			telemetry.Route(w, rt.method+" "+Prefix+rt.path)
		}
		defer recoverFrom(v)
		w.Header().Set("X-Request-Id", v.actor.RequestID)
		if err := enter(v, rt); err != nil {
			failWith(v, err)
			return
		}
		perform(v, rt)
	}
}

func perform(v *pageRequest, rt route) {
	switch {
	case rt.stream != nil:
		if err := rt.stream(v); err != nil {
			failWith(v, err)
		}
	case rt.act != nil:
		to, err := rt.act(v)
		if again, ok := errors.AsType[*page](err); ok {
			v.show(again)
		} else if err != nil {
			failWith(v, err)
		} else {
			http.Redirect(v.w, v.r, Prefix+to, http.StatusSeeOther)
		}
	default:
		p, err := rt.page(v)
		if err != nil {
			failWith(v, err)
			return
		}
		v.show(p)
	}
}

// enter authenticates the visitor and refuses unsafe requests that don't come from the
// console's own pages.
func enter(v *pageRequest, rt route) error {
	unsafe := v.r.Method != http.MethodGet && v.r.Method != http.MethodHead
	unknown := v.recognize()
	if unsafe {
		if v.origins.Check(v.r) != nil {
			return countersign.Errorf(countersign.CodeCSRF, "this form was sent from another site; open the page here and try again")
		}
		if unknown == nil && rt.upload != "" && access.Allow(v.actor.Principal, rt.upload) != nil {
			return v.control.Authorize(v.r.Context(), v.actor, rt.upload, "project/")
		}
		err := readForm(v, rt)
		if unknown == nil { // as of when the request is whole: the form may have taken minutes
			unknown = v.recognize()
		}
		if err != nil && (unknown == nil || rt.open) {
			return err
		}
	}
	if unknown != nil {
		if rt.open && countersign.ErrorCode(unknown) == countersign.CodeUnauthenticated {
			return nil
		}
		return unknown
	}
	if unsafe && !rt.open && !access.ValidCSRF(v.secret, v.r.PostForm.Get("csrf")) {
		refused := countersign.Errorf(countersign.CodeCSRF, "this form belongs to another sign-in; open the page again")
		return v.control.Refuse(v.r.Context(), v.actor, access.SignIn, "user/"+v.actor.Email, refused)
	}
	return nil
}

// readForm reads the form, within the limit for strangers unless there is a session.
func readForm(v *pageRequest, rt route) error {
	most := int64(maxStrangers)
	switch {
	case v.signedIn() && rt.upload != "":
		most = rt.largest
	case v.signedIn():
		most = maxForm
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, most)
	var err error
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); rt.upload != "" && kind == "multipart/form-data" {
		err = v.r.ParseMultipartForm(most) // all of it in memory
	} else {
		err = v.r.ParseForm()
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

// recognize authenticates by the session cookie.
func (v *pageRequest) recognize() error {
	v.actor.Principal, v.secret = access.Principal{}, ""
	var secrets []string
	for _, cookie := range v.r.CookiesNamed(access.CookieName(v.secure())) {
		secrets = append(secrets, cookie.Value)
	}
	if len(secrets) == 0 {
		return countersign.Errorf(countersign.CodeUnauthenticated, "you are not signed in")
	}
	p, secret, err := v.control.AuthenticateSessions(v.r.Context(), secrets)
	if err != nil {
		return err
	}
	v.actor.Principal, v.secret = p, secret
	return nil
}

func (v *pageRequest) signedIn() bool { return v.actor.Session != "" }

// keep stores the session in the browser; "" deletes it.
func (v *pageRequest) keep(session string) {
	cookie := &http.Cookie{
		Name: access.CookieName(v.secure()), Value: session, Path: "/", HttpOnly: true, Secure: v.secure(),
		SameSite: http.SameSiteLaxMode, MaxAge: int(access.SessionAbsolute.Seconds()),
	}
	if session == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.w, cookie)
}

// form is a field of the form without surrounding spaces.
func (v *pageRequest) form(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

func (v *pageRequest) query(name string) string { return v.r.URL.Query().Get(name) }

// from is the client's network address. X-Forwarded-For counts only as far as trusted
// proxies wrote it.
func (v *pageRequest) from() string {
	host, _, err := net.SplitHostPort(v.r.RemoteAddr)
	if err != nil {
		return v.r.RemoteAddr
	}
	hops := strings.Split(strings.Join(v.r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(v, host); i-- {
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

func isTrusted(v *pageRequest, host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(v.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// failWith shows an error page. Without a session, a GET redirects to the sign-in, which
// leads back to the page.
func failWith(v *pageRequest, err error) {
	e := refusalOf(err)
	if e == nil {
		if errors.Is(err, control.ErrTooMany) {
			v.show(tooMany())
			return
		}
		if v.r.Context().Err() == nil {
			v.cfg.Log.ErrorContext(v.r.Context(), "page failed", "method", v.r.Method, "path", v.r.URL.Path, "error", err)
		}
		e = countersign.Errorf(countersign.CodeInternal, "request %s", v.actor.RequestID)
	}
	live := strings.Contains(v.r.Header.Get("Accept"), "text/event-stream") // a live stream needs the error, not a redirect
	if e.Code == countersign.CodeUnauthenticated && v.r.Method == http.MethodGet && !live {
		http.Redirect(v.w, v.r, Prefix+"/sign-in?next="+url.QueryEscape(strings.TrimPrefix(v.r.URL.RequestURI(), Prefix)), http.StatusSeeOther)
		return
	}
	v.show(errorPage(v, e))
}

// recoverFrom turns a panic into an error page; open transactions were rolled back.
func recoverFrom(v *pageRequest) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, compared as it documents
		panic(cause)
	}
	v.cfg.Log.ErrorContext(v.r.Context(), "panic", "cause", cause, "stack", string(debug.Stack()))
	v.show(errorPage(v, countersign.Errorf(countersign.CodeInternal, "request %s", v.actor.RequestID)))
}

// may checks that the visitor may perform an operation. A refused POST is recorded in
// the audit log, as for the API.
func (v *pageRequest) may(op access.Operation) error {
	if v.r.Method != http.MethodPost {
		return access.Allow(v.actor.Principal, op)
	}
	return v.control.Authorize(v.r.Context(), v.actor, op, subjectOf(v, op))
}

// subjectOf is what a request is about, for the audit log: what its address names, or its form.
func subjectOf(v *pageRequest, op access.Operation) string {
	return access.Subject(v.actor.Principal, op, func(name string) string { return cmp.Or(v.r.PathValue(name), v.form(name)) })
}

func (v *pageRequest) can(op access.Operation) bool {
	return access.Allow(v.actor.Principal, op) == nil
}

// fragment writes one block of a page, which htmx swaps into the open page.
func (v *pageRequest) fragment(p *page, block string) error {
	var b bytes.Buffer
	p.Alone = true // skips reading the frame's counts and banners
	if err := v.render(&b, p, block); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = b.WriteTo(v.w) // the visitor may have disconnected
	return nil
}
