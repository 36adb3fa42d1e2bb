package main

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/background/tokenends"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// tokensNamed is how many tokens that end soon are named.
const tokensNamed = 10

// checkTokens names the tokens that end soon: what uses them stops then.
func checkTokens(ctx context.Context, cfg config) (found []finding) {
	var ending []records.Token
	there, err := peek(ctx, cfg.Store, func(tx store.Tx) error {
		ending = nil
		tenants, err := records.TenantIDs(tx)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			if err := tokenends.Each(tx, tenant, now(), func(t *records.Token) { ending = append(ending, *t) }); err != nil {
				return err
			}
		}
		return nil
	})
	if !there || err != nil {
		return nil // which the other checks report
	}
	for i, t := range ending {
		if i == tokensNamed {
			found = append(found, warn("tokens", "see them on the console's page Tokens", "%d more end soon", len(ending)-i))
			break
		}
		do := "make another one for what uses it, or revoke it"
		if t.Reads != nil {
			do = "renew it: countersign tokens renew, with itself"
		}
		found = append(found, warn("tokens", do, "%s", fmt.Sprintf("%s of tenant %s, %s, ends %s", t.ID, t.TenantID, safetext.Value(t.Name), t.ExpiresAt.UTC().Format(time.RFC3339))))
	}
	if len(found) == 0 {
		found = append(found, fine("tokens", "none ends soon"))
	}
	return found
}
