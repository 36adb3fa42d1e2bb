package evidence

import (
	"context"
	"crypto/ed25519"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Actions in the realm's audit log that concern keys. No operation of the API has them.
const (
	makeReceiptKey   = "receipts.make_key"
	rotateReceiptKey = "receipts.rotate_key"
)

// EnsureReceiptKey makes the key of receipts at the first start of a store, so that whoever wants
// to verify receipts can have it before there is one. Of several replicas that start at once the
// first to commit makes it.
func (s *ReceiptService) EnsureReceiptKey(ctx context.Context) error {
	made := false
	look := func(tx store.Tx) error {
		keys, _, err := receiptKeys(tx)
		made = err == nil && keys.Seed != nil
		return err
	}
	if err := s.Store.View(ctx, look); err != nil || made {
		return err
	}
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if err := look(tx); err != nil || made {
			return err
		}
		_, err := s.newReceiptKey(tx, makeReceiptKey, "")
		return err
	})
}

// ReceiptKeys lists the public keys of receipts, the present one first.
func (s *ReceiptService) ReceiptKeys(ctx context.Context) (keys []countersign.ReceiptKey, err error) {
	err = s.Store.View(ctx, func(tx store.Tx) error {
		found, _, err := receiptKeys(tx)
		keys = []countersign.ReceiptKey{}
		if err == nil && found.Seed != nil {
			keys = found.Public()
		}
		return err
	})
	return keys, core.Public(err)
}

// receiptKeys reads the keys; none before the first start.
func receiptKeys(tx store.Tx) (*records.ReceiptKeys, int64, error) {
	keys, version, err := records.AllReceiptKeys.Get(tx, store.Realm, records.ReceiptKeysID)
	if errors.Is(err, store.ErrNotFound) {
		return &records.ReceiptKeys{}, 0, nil
	}
	return keys, version, err
}

// signingKey returns the key to sign with.
func (s *ReceiptService) signingKey(ctx context.Context) (key ed25519.PrivateKey, err error) {
	err = s.Store.View(ctx, func(tx store.Tx) error {
		keys, _, err := receiptKeys(tx)
		if err == nil && keys.Seed == nil {
			err = errors.New("the store has no key of receipts")
		}
		if err == nil {
			key = keys.PrivateKey()
		}
		return err
	})
	return key, err
}

// RotateReceiptKey makes a new key for later receipts. The public halves of earlier keys
// stay published.
func (s *ReceiptService) RotateReceiptKey(ctx context.Context, reason string) (made countersign.ReceiptKey, err error) {
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		keys, err := s.newReceiptKey(tx, rotateReceiptKey, reason)
		if err == nil {
			made = keys.Present
		}
		return err
	})
	return made, core.Public(err)
}

func (s *ReceiptService) newReceiptKey(tx store.Tx, action access.Operation, reason string) (*records.ReceiptKeys, error) {
	keys, version, err := receiptKeys(tx)
	if err != nil {
		return nil, err
	}
	seed := s.Config.NewSecret()
	public := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	made := countersign.ReceiptKey{KeyID: receipt.KeyID(public), Algorithm: receipt.Algorithm, PublicKey: receipt.KeyText(public), CreatedAt: s.Config.Now()}
	before := keys.Present.KeyID
	keys.Rotate(seed[:], made, made.CreatedAt)
	if _, err := records.AllReceiptKeys.Put(tx, store.Realm, records.ReceiptKeysID, keys, version); err != nil {
		return nil, err
	}
	system := core.Actor{Principal: access.System(countersign.DefaultTenant)}
	return keys, s.AuditIn(tx, store.Realm, system, action, "receipt-key/"+made.KeyID, core.Change{Before: before, After: made.KeyID, Reason: reason})
}
