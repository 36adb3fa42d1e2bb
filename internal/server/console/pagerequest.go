package console

import (
	"errors"
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

// pageRequest is one request: who makes it, and when.
type pageRequest struct {
	*Console
	w      http.ResponseWriter
	r      *http.Request
	now    time.Time
	actor  control.Actor // without a session: nobody
	secret string        // of the session
}

// How much is read of a form: of who is signed in a model's document is the largest.
// Of a stranger it is an e-mail address or a code; whoever holds many posts open would
// else fill the memory (contract 11).
const (
	maxForm      = countersign.MaxBodyBytes + 64<<10
	maxStrangers = countersign.MaxOpenBytes
)

// serve runs a route. A decision that succeeds answers 303, so that reloading
// its page repeats nothing.
func (c *Console) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{Console: c, w: w, now: c.cfg.Now(), actor: control.Actor{RequestID: c.cfg.NewID("req")}}
		v.r = r.WithContext(telemetry.WithRequestID(r.Context(), v.actor.RequestID))
		if rt.method != "" {
			telemetry.Route(w, rt.method+" "+Prefix+rt.path)
		}
		defer v.recovered()
		w.Header().Set("X-Request-Id", v.actor.RequestID)
		if err := v.enter(rt); err != nil {
			v.fail(err)
			return
		}
		v.perform(rt)
	}
}

func (v *pageRequest) perform(rt route) {
	switch {
	case rt.stream != nil:
		if err := rt.stream(v); err != nil {
			v.fail(err)
		}
	case rt.act != nil:
		to, err := rt.act(v)
		if again, ok := errors.AsType[*page](err); ok {
			v.show(again)
		} else if err != nil {
			v.fail(err)
		} else {
			http.Redirect(v.w, v.r, Prefix+to, http.StatusSeeOther)
		}
	default:
		p, err := rt.page(v)
		if err != nil {
			v.fail(err)
			return
		}
		v.show(p)
	}
}

// enter finds the visitor, and refuses an unsafe request that doesn't come from
// one of our own pages.
func (v *pageRequest) enter(rt route) error {
	unsafe := v.r.Method != http.MethodGet && v.r.Method != http.MethodHead
	unknown := v.recognize()
	if unsafe {
		if err := v.readForm(); err != nil && (unknown == nil || rt.open) {
			return err
		}
		if v.origins.Check(v.r) != nil {
			return countersign.Errorf(countersign.CodeCSRF, "this form was sent from another site; open the page here and try again")
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

// readForm reads the form, of somebody who isn't signed in no more than a sign-in needs.
func (v *pageRequest) readForm() error {
	most := int64(maxStrangers)
	if v.signedIn() {
		most = maxForm
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, most)
	err := v.r.ParseForm()
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return countersign.Errorf(countersign.CodePayloadTooLarge, "the form is larger than %d bytes", most)
	case err != nil:
		return countersign.Errorf(countersign.CodeInvalidRequest, "the form could not be read")
	}
	return nil
}

// recognize finds the session of the cookie.
func (v *pageRequest) recognize() error {
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

// signedIn reports a visit with a session.
func (v *pageRequest) signedIn() bool { return v.actor.Session != "" }

// keep gives the browser a session, or with "" takes it away.
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

// form is a field of the form, without the blanks around it.
func (v *pageRequest) form(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

// query is a parameter of the page's address.
func (v *pageRequest) query(name string) string { return v.r.URL.Query().Get(name) }

// from is the network address of the visitor. X-Forwarded-For counts only as far
// as proxies that the operator trusts have written it.
func (v *pageRequest) from() string {
	host, _, err := net.SplitHostPort(v.r.RemoteAddr)
	if err != nil {
		return v.r.RemoteAddr
	}
	hops := strings.Split(strings.Join(v.r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && v.trusted(host); i-- {
		next, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		host = next
	}
	return host
}

// hop is the address that a proxy has written, without the port that some add.
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

func (v *pageRequest) trusted(host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(v.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// fail shows an error as a page. Who is signed out goes to sign in, and comes
// back to the page, not to the decision.
func (v *pageRequest) fail(err error) {
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
	live := strings.Contains(v.r.Header.Get("Accept"), "text/event-stream") // it must learn that it ended, not follow a page
	if e.Code == countersign.CodeUnauthenticated && v.r.Method == http.MethodGet && !live {
		http.Redirect(v.w, v.r, Prefix+"/sign-in?next="+url.QueryEscape(strings.TrimPrefix(v.r.URL.RequestURI(), Prefix)), http.StatusSeeOther)
		return
	}
	v.show(v.errorPage(e))
}

// recovered turns a panic into an error page: what a transaction had begun was
// rolled back.
func (v *pageRequest) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http's own sentinel, compared as it documents
		panic(cause)
	}
	v.cfg.Log.ErrorContext(v.r.Context(), "panic", "cause", cause, "stack", string(debug.Stack()))
	v.show(v.errorPage(countersign.Errorf(countersign.CodeInternal, "request %s", v.actor.RequestID)))
}
