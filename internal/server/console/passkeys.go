package console

import (
	"encoding/json"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// Passkeys: a script of ours asks the service for a question, the browser's own dialog for an
// answer, and sends it by form. These are the only forms that need JavaScript.

func passkeyRoutes() []route {
	return []route{
		{method: "POST", path: "/sign-in/passkey/ask", open: true, stream: askForPasskey},
		{method: "POST", path: "/sign-in/passkey", open: true, act: signInByPasskey},
		{method: "POST", path: "/settings/passkeys/ask", stream: askToAddPasskey},
		{method: "POST", path: "/settings/passkeys", act: addPasskey},
		{method: "POST", path: "/settings/passkeys/{id}/remove", act: removePasskey},
	}
}

func askForPasskey(v *pageRequest) error {
	q, err := v.control.AskForPasskey(v.r.Context(), v.from())
	if err != nil {
		return err
	}
	return putQuestion(v, q)
}

func askToAddPasskey(v *pageRequest) error {
	q, err := v.control.AskToAddPasskey(v.r.Context(), v.actor)
	if err != nil {
		return err
	}
	return putQuestion(v, q)
}

// putQuestion answers a script with a question.
func putQuestion(v *pageRequest, q control.Question) error {
	out, err := json.Marshal(struct {
		Question string          `json:"question"`
		Options  json.RawMessage `json:"options"`
	}{q.Secret, q.Options})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	_, _ = v.w.Write(out) // the visitor may have disconnected
	return nil
}

func signInByPasskey(v *pageRequest) (string, error) {
	session, err := v.control.SignInByPasskey(v.r.Context(), v.form("question"), v.form("answer"), v.from(), v.actor)
	if e := refusalOf(err); e != nil && e.Code == countersign.CodeUnauthenticated {
		return "", elsewhereFailed(v, http.StatusUnauthorized, "This passkey did not sign you in.", "Try again, or sign in in another way.", local(v.form("next")))
	}
	if err != nil {
		return "", err
	}
	v.keep(session)
	return local(v.form("next")), nil
}

func addPasskey(v *pageRequest) (string, error) {
	return "/settings#passkeys", v.control.AddPasskey(v.r.Context(), v.actor, v.form("name"), v.form("question"), v.form("answer"))
}

func removePasskey(v *pageRequest) (string, error) {
	return "/settings#passkeys", v.control.RemovePasskey(v.r.Context(), v.actor, v.r.PathValue("id"))
}
