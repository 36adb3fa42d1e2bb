package httpapi

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
)

// A browser's session authenticates its user on both prefixes (contract 3).

// cookies are the candidates for the session's secret.
func (a *API) cookies(r *http.Request) (secrets []string) {
	for _, c := range r.CookiesNamed(access.CookieName(strings.HasPrefix(a.cfg.BaseURL, "https://"))) {
		if c.Value != "" {
			secrets = append(secrets, c.Value)
		}
	}
	return secrets
}

// resume authenticates by the session's cookie.
func (a *API) resume(c *call) error {
	p, secret, err := a.control.AuthenticateSessions(c.ctx, a.cookies(c.r))
	c.secret = secret
	c.actor = control.Actor{Principal: p, RequestID: requestID(c.r), Door: countersign.DoorAPI}
	return err
}

// sameSite refuses unsafe requests that another site may have made the browser send: a
// cookie is sent automatically, the X-CSRF-Token header isn't.
func (a *API) sameSite(c *call) error {
	if c.actor.Session == "" || safe(c.r.Method) {
		return nil
	}
	if a.origins.Check(c.r) != nil {
		return countersign.Errorf(countersign.CodeCSRF, "this request comes from another site")
	}
	if !access.ValidCSRF(c.secret, c.r.Header.Get("X-CSRF-Token")) {
		return countersign.Errorf(countersign.CodeCSRF, "X-CSRF-Token: send the csrfToken of GET %s/session", Prefix)
	}
	return nil
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func (a *API) session(c *call) (any, error) {
	out, err := a.control.Session(c.ctx, c.actor)
	if c.actor.Session != "" {
		out.CSRFToken = access.CSRFToken(c.secret)
	}
	return out, err
}
