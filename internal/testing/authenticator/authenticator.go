// Package authenticator is a browser's side of passkeys: it answers the options of WebAuthn
// with ES256 keys of its own, and can be told to misbehave.
package authenticator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
)

// Authenticator holds passkeys of one relying party.
type Authenticator struct {
	t      testing.TB
	Origin string // of the page that asks
	RPID   string

	Counter    uint32 // of the next answer; 0 for an authenticator without counters
	Unverified bool   // it doesn't verify its user
	Handle     []byte // answers in the name of this user; nil: of whom the key was made for
	Public     []byte // registers this COSE key; nil: its own
	Again      bool   // registers the key that it has once more

	id     []byte
	handle []byte
	key    *ecdsa.PrivateKey
}

// New is an authenticator in a browser that shows a page of this origin.
func New(t testing.TB, origin, rpID string) *Authenticator {
	return &Authenticator{t: t, Origin: origin, RPID: rpID}
}

const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

type options struct {
	Challenge string `json:"challenge"`
	User      struct {
		ID string `json:"id"`
	} `json:"user"`
}

// Create makes a key and answers with it.
func (a *Authenticator) Create(asked []byte) string {
	a.t.Helper()
	o := a.read(asked)
	if !a.Again {
		a.makeKey()
	}
	a.handle = a.decoded(o.User.ID)
	public, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		a.t.Fatal(err)
	}
	data := a.data(attested)
	data = append(data, make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(data, a.id...)
	if a.Public == nil {
		data = append(data, ES256(public[1:33], public[33:])...)
	} else {
		data = append(data, a.Public...)
	}
	object := binary.BigEndian.AppendUint16([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"), uint16(len(data)))
	return a.answer(map[string]any{
		"clientDataJSON": encoded(a.client("webauthn.create", o)), "attestationObject": encoded(append(object, data...)), "transports": []string{"internal"},
	})
}

func (a *Authenticator) makeKey() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.key, a.id = key, make([]byte, 32)
	if _, err := rand.Read(a.id); err != nil {
		a.t.Fatal(err)
	}
}

// ES256 is the COSE key of a point.
func ES256(x, y []byte) []byte {
	key := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, byte(len(x))}, x...)
	return append(append(key, 0x22, 0x58, byte(len(y))), y...)
}

// RS256 is the COSE key of a modulus and an exponent.
func RS256(n, e []byte) []byte {
	key := append([]byte{0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59}, byte(len(n)>>8), byte(len(n)))
	key = append(append(key, n...), 0x21, 0x40|byte(len(e)))
	return append(key, e...)
}

// Get answers with the key.
func (a *Authenticator) Get(asked []byte) string {
	a.t.Helper()
	o := a.read(asked)
	data, client, handle := a.data(0), a.client("webauthn.get", o), a.handle
	hash := sha256.Sum256(client)
	signed := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	if err != nil {
		a.t.Fatal(err)
	}
	if a.Handle != nil {
		handle = a.Handle
	}
	return a.answer(map[string]any{
		"clientDataJSON": encoded(client), "authenticatorData": encoded(data), "signature": encoded(signature), "userHandle": encoded(handle),
	})
}

// Sign answers a challenge that the page computed itself.
func (a *Authenticator) Sign(challenge []byte) countersign.SignedAnswer {
	a.t.Helper()
	asked := a.written(map[string]string{"challenge": encoded(challenge)})
	var out struct {
		ID       string                   `json:"id"`
		Response countersign.SignedAnswer `json:"response"`
	}
	if err := json.Unmarshal([]byte(a.Get(asked)), &out); err != nil {
		a.t.Fatal(err)
	}
	out.Response.CredentialID = out.ID
	return out.Response
}

func (a *Authenticator) read(asked []byte) (o options) {
	a.t.Helper()
	if err := json.Unmarshal(asked, &o); err != nil {
		a.t.Fatalf("%v: %s", err, asked)
	}
	return o
}

// data is the beginning of the authenticator's data.
func (a *Authenticator) data(flags byte) []byte {
	hash := sha256.Sum256([]byte(a.RPID))
	flags |= present
	if !a.Unverified {
		flags |= verified
	}
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

func (a *Authenticator) client(kind string, o options) []byte {
	return a.written(map[string]any{"type": kind, "challenge": o.Challenge, "origin": a.Origin, "crossOrigin": false})
}

func (a *Authenticator) answer(response map[string]any) string {
	return string(a.written(map[string]any{"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{}}))
}

func (a *Authenticator) written(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

func (a *Authenticator) decoded(text string) []byte {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		a.t.Fatal(err)
	}
	return data
}

func encoded(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
