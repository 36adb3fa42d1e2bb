package passkey

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

// TestAKeyOfSmallOrderIsNoPasskey: one signature would be good for any text by it.
func TestAKeyOfSmallOrderIsNoPasskey(t *testing.T) {
	x := make([]byte, 32)
	x[0] = 1 // the neutral element
	signature := append(append([]byte{0x58}, bytes.Repeat([]byte{0x66}, 31)...), x...)
	if !ed25519.Verify(x, []byte("any text"), signature) {
		t.Fatal("the test is about nothing")
	}
	if err := usable(cose(x)); err == nil {
		t.Error("it is taken")
	}
	good := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)).Public().(ed25519.PublicKey)
	if err := usable(cose(good)); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// cose is an Ed25519 key as an authenticator says it.
func cose(x []byte) []byte {
	return append([]byte{0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20}, x...)
}
