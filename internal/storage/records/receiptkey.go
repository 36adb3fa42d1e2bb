package records

import (
	"crypto/ed25519"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// ReceiptKeys is the key pair that receipts are signed with, and the public halves
// of those before it. The seed is a secret: it is in no answer, log or audit record.
type ReceiptKeys struct {
	Seed    []byte                   `json:"seed"`
	Present countersign.ReceiptKey   `json:"present"`
	Earlier []countersign.ReceiptKey `json:"earlier,omitempty"` // the latest first
}

// PrivateKey is the present key pair.
func (k *ReceiptKeys) PrivateKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.Seed) }

// Public lists the public halves, the present one first.
func (k *ReceiptKeys) Public() []countersign.ReceiptKey {
	return append([]countersign.ReceiptKey{k.Present}, k.Earlier...)
}

// Rotate puts a new key pair in the place of the present one, whose public half is
// kept.
func (k *ReceiptKeys) Rotate(seed []byte, public countersign.ReceiptKey, now time.Time) {
	if k.Present.KeyID != "" {
		k.Present.RetiredAt = now
		k.Earlier = k.Public()
	}
	k.Seed, k.Present = seed, public
}

// AllReceiptKeys are kept under Realm, ReceiptKeysID their only id.
var AllReceiptKeys = store.Collection[ReceiptKeys]{Table: store.Meta}

// ReceiptKeysID is the id of the record.
const ReceiptKeysID = "receipt-keys"
