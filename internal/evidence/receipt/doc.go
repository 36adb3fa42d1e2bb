// Package receipt builds the receipt of a run, and verifies one with only the file and
// a public key. docs/reference/receipt.md is its specification: a change here requires
// a change there, in sdk/typescript/src/receipt, and of the format's number. It reads
// no clock and performs no I/O.
package receipt

import (
	"crypto/ed25519"
	"encoding/hex"

	"github.com/countersign/countersign"
)

// Formats are the names of the formats that this verifier knows: the first, and that of
// receipts which hold anything of the third edition (package edition).
const (
	Format  = "countersign-receipt/1"
	Format2 = "countersign-receipt/2"
)

// The parts of a receipt that a verifier names. The sections are in alphabetical
// order; the frame is the text around them.
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

// KeyText is a public key in its published form: lowercase hex.
func KeyText(public ed25519.PublicKey) string { return hex.EncodeToString(public) }

// ParseKey reads a public key; ok is false for anything else than 64 digits of
// lowercase hex, and for a key that anybody can sign for.
func ParseKey(text string) (public ed25519.PublicKey, ok bool) {
	key, err := hex.DecodeString(text)
	if err != nil || countersign.CheckEd25519(key) != nil || hex.EncodeToString(key) != text {
		return nil, false
	}
	return key, true
}

// signed is the text that is signed.
func signed(format string, contents []byte) []byte { return append([]byte(format+"\n"), contents...) }
