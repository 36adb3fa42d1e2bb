// Package issuer judges JSON Web Tokens that identity providers issue to agents, as access tokens
// for this service: whose they are, by which listed issuer, and which of its keys signed them.
// Time and HTTP are arguments. It knows nothing of agents.
package issuer

import "fmt"

// RefusedError says which check a token failed. It is for the log: who sent the token is not told.
type RefusedError struct {
	Check string // what was looked at: a member of the token, or what else must hold
	Why   string
}

func (r *RefusedError) Error() string { return r.Check + ": " + r.Why }

func refuse(check, format string, args ...any) error {
	return &RefusedError{check, fmt.Sprintf(format, args...)}
}
