package access

import (
	"encoding/json"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/web"
)

// Passkeys: a script of ours asks the service for a question, the browser's own dialog for an
// answer, and sends it by form. These are the only forms that need JavaScript.

func passkeyRoutes() []web.Route {
	return []web.Route{
		{Method: "POST", Path: "/sign-in/passkey/ask", Open: true, Stream: askForPasskey},
		{Method: "POST", Path: "/sign-in/passkey", Open: true, Act: signInByPasskey},
		{Method: "POST", Path: "/settings/passkeys/ask", Stream: askToAddPasskey},
		{Method: "POST", Path: "/settings/passkeys", Act: addPasskey},
		{Method: "POST", Path: "/settings/passkeys/{id}/remove", Act: removePasskey},
	}
}

func askForPasskey(v *web.Request) error {
	q, err := v.Control.AskForPasskey(v.R.Context(), v.From())
	if err != nil {
		return err
	}
	return putQuestion(v, q)
}

func askToAddPasskey(v *web.Request) error {
	q, err := v.Control.AskToAddPasskey(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	return putQuestion(v, q)
}

// putQuestion answers a script with a question.
func putQuestion(v *web.Request, q control.Question) error {
	out, err := json.Marshal(struct {
		Question string          `json:"question"`
		Options  json.RawMessage `json:"options"`
	}{q.Secret, q.Options})
	if err != nil {
		return err
	}
	v.W.Header().Set("Content-Type", "application/json")
	_, _ = v.W.Write(out) // the visitor may have disconnected
	return nil
}

func signInByPasskey(v *web.Request) (string, error) {
	session, err := v.Control.SignInByPasskey(v.R.Context(), v.Form("question"), v.Form("answer"), v.From(), v.Actor)
	if e := web.RefusalOf(err); e != nil && e.Code == countersign.CodeUnauthenticated {
		return "", elsewhereFailed(v, http.StatusUnauthorized, "This passkey did not sign you in.", "Try again, or sign in in another way.", web.Local(v.Form("next")))
	}
	if err != nil {
		return "", err
	}
	v.Keep(session)
	return web.Local(v.Form("next")), nil
}

func addPasskey(v *web.Request) (string, error) {
	return "/settings#passkeys", v.Control.AddPasskey(v.R.Context(), v.Actor, v.Form("name"), v.Form("question"), v.Form("answer"))
}

func removePasskey(v *web.Request) (string, error) {
	return "/settings#passkeys", v.Control.RemovePasskey(v.R.Context(), v.Actor, v.R.PathValue("id"))
}
