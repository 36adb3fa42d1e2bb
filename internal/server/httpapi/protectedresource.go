package httpapi

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
)

// What a client needs to know to get a token for an agent's door (RFC 9728, contract 12.3).

// wellKnown leads from the service, or with the path of a door behind it from that door, to what
// says which issuers' tokens are taken there.
const wellKnown = "/.well-known/oauth-protected-resource"

// doors are the patterns of the paths that agents come in by.
var doors = []string{"/mcp/agents/{id}", "/mcp/agents/{id}/rehearsal"}

type protectedResource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
}

// describeDoors serves the description of the service and of each door: the same for every
// door, whether its agent exists or not. Without issuers there is none.
func (a *API) describeDoors() {
	if len(a.cfg.Issuers) == 0 {
		return
	}
	for _, door := range append([]string{""}, doors...) {
		a.mux.Handle(wellKnown+door, a.notAllowed([]string{http.MethodGet}))
		a.mux.HandleFunc(http.MethodGet+" "+wellKnown+door, func(w http.ResponseWriter, r *http.Request) {
			id := r.PathValue("id")
			if door != "" && !countersign.ValidID(id) {
				a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there is nothing at %s; the API is below %s", r.URL.Path, Prefix))
				return
			}
			a.write(w, r, http.StatusOK, protectedResource{Resource: a.cfg.BaseURL + doorOf(door, id), Servers: a.cfg.Issuers, Methods: []string{"header"}})
		})
	}
}

// doorOf is the path of an agent's door.
func doorOf(pattern, id string) string { return strings.Replace(pattern, "{id}", id, 1) }

// leadTo tells a client that was refused at a door for its token where a good one comes from.
func (a *API) leadTo(w http.ResponseWriter, door string, err error) {
	if len(a.cfg.Issuers) > 0 && countersign.ErrorCode(err) == countersign.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.cfg.BaseURL+wellKnown+door+`"`)
	}
}
