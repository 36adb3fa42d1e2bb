package countersign

import "time"

// ReceiptKey is the public half of a key that the installation signs, or signed,
// receipts with (docs/reference/receipt.md).
type ReceiptKey struct {
	KeyID     string    `json:"keyId" doc:"SHA-256 of the public key's 32 bytes, lowercase hex"`
	Algorithm string    `json:"algorithm" enum:"Ed25519"`
	PublicKey string    `json:"publicKey" doc:"32 bytes, lowercase hex"`
	CreatedAt time.Time `json:"createdAt"`
	RetiredAt time.Time `json:"retiredAt,omitzero" doc:"since then receipts are signed with a later key; earlier ones stay good"`
}
