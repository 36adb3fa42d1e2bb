package httpapi

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// HandleAgents adds a POST route that starts runs of one agent by another protocol; the
// pattern contains the agent's {id}. Requests pass the checks of `POST
// /agents/{id}/runs` in the same order (contract 2): 401, 403, 413, 400; then serve
// responds or returns an error. Session cookies aren't accepted: browsers send them
// automatically, and the protocol has no place for a CSRF token.
func (a *API) HandleAgents(pattern string, serve func(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error) {
	a.mux.Handle(pattern, a.notAllowed([]string{http.MethodPost}))
	a.mux.HandleFunc(http.MethodPost+" "+pattern, func(w http.ResponseWriter, r *http.Request) {
		telemetry.Route(w, http.MethodPost+" "+pattern)
		c := &call{ctx: r.Context(), r: r, w: w, id: r.PathValue("id")}
		c.door = doorOf(pattern, c.id)
		body, err := a.enter(c, route{path: "/agents/{id}", op: access.StartAgentRun})
		if err == nil {
			err = serve(w, r, c.actor, body)
		}
		if err != nil {
			a.leadTo(w, c.door, err)
			a.fail(w, r, err)
		}
	})
}

func (a *API) enter(c *call, rt route) ([]byte, error) {
	look := func() error {
		if err := a.bearer(c); err != nil {
			return err
		}
		if err := a.sameOrigin(c.r); err != nil {
			return a.control.Refuse(c.ctx, c.actor, rt.op, subjectOf(rt, c), err)
		}
		return a.control.Authorize(c.ctx, c.actor, rt.op, subjectOf(rt, c))
	}
	body, err := c.read(look, countersign.MaxBodyBytes)
	if err != nil {
		return nil, err
	}
	if err := readParams(c, rt); err != nil {
		return nil, err
	}
	if err := isJSON(c.r); err != nil {
		return nil, err
	}
	return body, exactjson.Check(body)
}

// sameOrigin refuses pages of another origin, whatever token they send; programs send
// no Origin. Origin is compared with the public address, not with Host, so DNS
// rebinding is refused too.
func (a *API) sameOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin != "" && origin != a.cfg.BaseURL || a.origins.Check(r) != nil {
		return countersign.RefusedAt(countersign.CodeCSRF, "Origin", "this request comes from a page of another site; ask from a program, or from %s", a.cfg.BaseURL)
	}
	return nil
}
