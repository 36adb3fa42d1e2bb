package runrepo

import (
	"errors"
	"strings"

	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Makers completes a stored requester: with the users for whom an agent asked, as they are known
// now, and with the makers of a token. Earlier releases didn't store the makers of a token
// with it; the token's record has them, and stays when the token is revoked.
func Makers(tx store.Tx, tenant string, r access.Requester) (access.Requester, error) {
	r, err := records.Behind(tx, tenant, r)
	if err != nil {
		return r, err
	}
	id, isToken := strings.CutPrefix(r.ID, "token:")
	if !isToken || r.Makers != nil {
		return r, nil
	}
	t, _, err := records.Tokens.Get(tx, tenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return r, nil
	case err != nil:
		return r, err
	}
	r.Makers = t.Lineage
	return r, nil
}

// nameMakers sets the makers of an approval's requester.
func nameMakers(tx store.Tx, tenant string, a *records.Approval) (err error) {
	a.Requester, err = Makers(tx, tenant, a.Requester)
	a.RequestedByMakers, a.BehindUnknown = a.Requester.Makers, a.Requester.Stranger
	return err
}
