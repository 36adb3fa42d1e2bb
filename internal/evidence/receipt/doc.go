// Package receipt makes the receipt of a run and verifies it with nothing but the
// file and a public key. docs/reference/receipt.md is its specification: whatever
// changes here changes there, in sdk/typescript/src/receipt, and in the format's
// number. It reads no clock and performs nothing.
package receipt

import (
	"crypto/ed25519"
	"encoding/hex"

	"github.com/countersign/countersign"
)

// Format is the name and number of the format.
const Format = "countersign-receipt/1"

// The parts of a receipt that a verifier names. The sections stand in this order,
// which is that of their names; the frame is what stands around them.
const (
	Frame     = "frame"
	Contents  = "contents"
	Signature = "signature"

	Approvals = "approvals"
	Audit     = "audit"
	Plan      = "plan"
	Requests  = "requests"
	Run       = "run"
	Statement = "statement"
)

// Sections lists the sections in their order.
var Sections = []string{Approvals, Audit, Plan, Requests, Run, Statement}

// Algorithm is the only algorithm of signatures.
const Algorithm = "Ed25519"

// KeyID is the id of a public key: the lowercase hex SHA-256 of its 32 bytes.
func KeyID(public ed25519.PublicKey) string { return countersign.SHA256Hex(public) }

// KeyText is a public key as it is published and given: lowercase hex.
func KeyText(public ed25519.PublicKey) string { return hex.EncodeToString(public) }

// ParseKey reads a public key; ok is false for anything else than 64 digits of
// lowercase hex.
func ParseKey(text string) (public ed25519.PublicKey, ok bool) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize || hex.EncodeToString(key) != text {
		return nil, false
	}
	return key, true
}

// signed is the text that the signature is taken of.
func signed(contents []byte) []byte { return append([]byte(Format+"\n"), contents...) }
