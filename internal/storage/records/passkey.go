package records

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// Passkey is a user's in one tenant. It has no secret: the private half is the browser's.
type Passkey struct {
	TenantID   string    `json:"tenantId"`
	Email      string    `json:"email"`
	Name       string    `json:"name"` // which device it is
	Handle     []byte    `json:"handle"`
	Key        Key       `json:"key"`
	Makers     []string  `json:"makers,omitempty"` // of the sign-in link behind the session that added it
	CreatedAt  time.Time `json:"createdAt"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`

	// Registration is the number of the audit record that has its public key. A passkey that
	// was added before keys were logged signs its user in, and no decision.
	Logged       bool  `json:"logged,omitempty"`
	Registration int64 `json:"registration,omitempty"`
}

// Key is what a passkey's answers are checked by.
type Key struct {
	ID         []byte   `json:"id"`
	PublicKey  []byte   `json:"publicKey"`
	Counter    uint32   `json:"counter,omitempty"`
	Flags      byte     `json:"flags"`
	Transports []string `json:"transports,omitempty"`
}

// PasskeyRef leads from a key's id to its record, for who signs in says no name.
type PasskeyRef struct {
	TenantID string `json:"tenantId"`
	Email    string `json:"email"`
}

// PasskeyQuestion waits for a browser's answer; its id is the hash of its secret. It stands
// beside sign-ins by code, which are swept likewise.
type PasskeyQuestion struct {
	State     []byte    `json:"state"`
	Session   string    `json:"session,omitempty"` // that adds a passkey; "" for a sign-in
	Handle    []byte    `json:"handle,omitempty"`  // of who adds one
	ExpiresAt time.Time `json:"expiresAt"`
}

// The collections: a tenant's passkeys and, in the realm, the way to them.
var (
	Passkeys         = store.Collection[Passkey]{Table: store.Meta}
	PasskeyRefs      = store.Collection[PasskeyRef]{Table: store.Meta}
	PasskeyQuestions = store.Collection[PasskeyQuestion]{Table: store.SignIns, Keys: func(q *PasskeyQuestion) []any { return []any{micros(q.ExpiresAt)} }}
)

// PasskeyID is the id of a user's passkey; no address holds a slash. PasskeyRefID is the one of
// its reference.
func PasskeyID(email string, key []byte) string { return "passkey/" + email + "/" + KeyHash(key) }

// PasskeyRefID is the id of the reference to a key.
func PasskeyRefID(key []byte) string { return "passkey/" + KeyHash(key) }

// PasskeysOf narrows a tenant's listing to a user's passkeys.
func PasskeysOf(email string) []store.Filter {
	return idRange("passkey/"+email+"/", "passkey/"+email+"0") // '0' follows '/'
}

// KeyHash names a key, whose id may be long.
func KeyHash(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}
