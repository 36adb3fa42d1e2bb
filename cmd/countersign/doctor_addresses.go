package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkAddresses finds users whose e-mail address an earlier release stored in another form than
// today's. Other checks report a store that can't be read.
func checkAddresses(ctx context.Context, cfg config) (found []finding) {
	var old []control.OldAddress
	_, err := peek(ctx, cfg.Store, func(tx store.Tx) (err error) { old, err = control.OldAddresses(tx); return err })
	if err != nil {
		return nil
	}
	for _, o := range old {
		if o.Free {
			found = append(found, warn("user address", "nothing: their sessions end, and they sign in again", "the next start changes user %s of tenant %s to %s, which is the form of today", o.Shown(), o.TenantID, o.Now))
			continue
		}
		const do = "remove the user, or lower their rights: DELETE or PUT /v1/users/%s"
		found = append(found, warn("user address", fmt.Sprintf(do, o.Path()), "user %s of tenant %s is stored in a form of an earlier release; today another user has it, or it is invalid: nobody can sign in by it, but sessions and tokens stay valid", o.Shown(), o.TenantID))
	}
	return found
}
