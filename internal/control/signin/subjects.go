package signin

import (
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// keepSubject notes as whom a user has signed in at an identity provider, by what that has said.
func keepSubject(tx store.Tx, email string, claims map[string][]string) error {
	iss, sub := claims["iss"], claims["sub"]
	if len(iss) != 1 || len(sub) != 1 {
		return nil
	}
	return records.KeepSubject(tx, email, records.Subject{Issuer: iss[0], Subject: sub[0]})
}
