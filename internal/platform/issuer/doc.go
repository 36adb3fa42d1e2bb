// Package issuer judges JSON Web Tokens that identity providers issue to agents, as access tokens
// for this service: whose they are, by which listed issuer, and which of its keys signed them.
// Time and HTTP are arguments. It knows nothing of agents.
package issuer

import "fmt"

// Refused says which check a token failed. It is for the log: who sent the token is not told.
type Refused struct {
	Check string // what was looked at: a member of the token, or what else must hold
	Why   string
}

func (r *Refused) Error() string { return r.Check + ": " + r.Why }

func refuse(check, format string, args ...any) error {
	return &Refused{check, fmt.Sprintf(format, args...)}
}
