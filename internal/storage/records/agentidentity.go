package records

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// AgentIdentity is an identity of an agent, and who wrote it: that counts as its maker.
type AgentIdentity struct {
	countersign.AgentIdentity
	Makers []string `json:"makers,omitempty"` // nearest first
}

// IdentityOwner says whose an identity is: within a tenant it is one agent's.
type IdentityOwner struct {
	AgentID string `json:"agentId"`
}

// IdentityOwners are found by IdentityID.
var IdentityOwners = store.Collection[IdentityOwner]{Table: store.Meta}

// IdentityID is the id of an identity's owner.
func IdentityID(i countersign.Identity) string {
	return "identity/" + hashOf(i.Issuer, i.Claim, i.Value)
}

// hashOf makes an id of texts, which may be long and of any characters.
func hashOf(texts ...string) string {
	text, err := countersign.Marshal(texts)
	if err != nil {
		panic(err) // a list of texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
