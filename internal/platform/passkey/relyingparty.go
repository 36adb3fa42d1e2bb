// Package passkey checks what browsers say by WebAuthn, for one relying party: the public
// address of the service. It knows keys and their owners' handles, and nothing of users,
// tenants or sessions, and it keeps nothing.
package passkey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/countersign/countersign"
)

// Party is the relying party.
type Party struct{ web *webauthn.WebAuthn }

// New makes the relying party of a public address. It fails where browsers allow no passkeys:
// for an address without a name, and for http beyond localhost.
func New(publicURL string) (*Party, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("the public address: %w", err)
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case net.ParseIP(host) != nil:
		return nil, fmt.Errorf("browsers allow passkeys for names, and %s is a network address", host)
	case u.Scheme != "https" && (u.Scheme != "http" || !local(host)):
		return nil, errors.New("browsers allow passkeys for https addresses, and for http://localhost")
	}
	web, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Countersign", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("the public address: %w", err)
	}
	return &Party{web}, nil
}

// local reports a name that browsers take for this machine.
func local(host string) bool { return host == "localhost" || strings.HasSuffix(host, ".localhost") }

// Key is a passkey as it is stored. The private half is the browser's.
type Key struct {
	ID         []byte   `json:"id"`
	PublicKey  []byte   `json:"publicKey"`
	Counter    uint32   `json:"counter,omitempty"`
	Flags      byte     `json:"flags"`
	Transports []string `json:"transports,omitempty"`
}

// Owner is whose keys they are. The handle is random, and says nothing of them.
type Owner struct {
	Handle []byte
	Name   string // shown by the browser
	Keys   []Key
}

// Ceremony is a question to a browser: Options are for its script, State is what the answer is
// checked against, which the browser must not choose.
type Ceremony struct{ Options, State []byte }

// maxAnswer bounds a browser's answer, which is read before it is known who answers.
const maxAnswer = 8 << 10

// ErrRefused is an answer that doesn't fit its question.
var ErrRefused = errors.New("passkey: the answer is not right")

// ErrCopied is a right answer whose counter has not risen: the key may have been copied.
var ErrCopied = errors.New("passkey: the counter of the key has not risen")

// algorithms are those that browsers and authenticators have in common.
var algorithms = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgEdDSA},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// AskToRegister asks a browser for a new key. An authenticator that has one of the owner's
// makes no second one.
func (p *Party) AskToRegister(o Owner) (Ceremony, error) {
	options, state, err := p.web.BeginRegistration(o, webauthn.WithCredentialParameters(algorithms),
		webauthn.WithExclusions(webauthn.Credentials(o.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return Ceremony{}, err
	}
	return ceremony(options.Response, state)
}

// Registered checks the answer to AskToRegister and returns the new key.
func (p *Party) Registered(o Owner, state, answer []byte) (k Key, err error) {
	session, err := stateOf(state, answer)
	if err != nil {
		return k, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return k, refused(err)
	}
	made, err := p.web.CreateCredential(o, session, parsed)
	if err != nil {
		return k, refused(err)
	}
	if err := usable(made.PublicKey); err != nil {
		return k, refused(err)
	}
	return keyOf(made), nil
}

// minRSABits is what an identity provider's keys must have, too.
const minRSABits = 2048

// usable refuses keys that could never sign in, such as a point off its curve, and keys that
// others could sign for. Without attestation nothing else reads a new key.
func usable(public []byte) error {
	key, err := webauthncose.ParsePublicKey(public)
	if err != nil {
		return err
	}
	if k, is := key.(webauthncose.OKPPublicKeyData); is {
		return countersign.CheckEd25519(k.XCoord)
	}
	k, ok := key.(webauthncose.RSAPublicKeyData)
	if !ok {
		return nil
	}
	e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
	if err != nil {
		return err
	}
	if bits := new(big.Int).SetBytes(k.Modulus).BitLen(); bits < minRSABits || e < 3 || e%2 == 0 {
		return fmt.Errorf("an RSA key of %d bits with the exponent %d is too weak", bits, e)
	}
	return nil
}

// AskToSignIn asks a browser for any key of this party.
func (p *Party) AskToSignIn() (Ceremony, error) {
	options, state, err := p.web.BeginDiscoverableLogin()
	if err != nil {
		return Ceremony{}, err
	}
	return ceremony(options.Response, state)
}

// SignedIn checks the answer to AskToSignIn and returns the key as it is to be stored from now
// on. find returns the owner of a key; its error is returned as it is.
func (p *Party) SignedIn(state, answer []byte, find func(id []byte) (Owner, error)) (k Key, err error) {
	session, err := stateOf(state, answer)
	if err != nil {
		return k, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return k, refused(err)
	}
	o, err := find(parsed.RawID)
	if err != nil {
		return k, err
	}
	used, err := p.web.ValidateDiscoverableLogin(func([]byte, []byte) (webauthn.User, error) { return o, nil }, session, parsed)
	if err != nil {
		return k, refused(err)
	}
	if used.Authenticator.CloneWarning {
		return k, ErrCopied
	}
	return keyOf(used), nil
}

func ceremony(options any, state *webauthn.SessionData) (c Ceremony, err error) {
	if c.Options, err = json.Marshal(options); err == nil {
		c.State, err = json.Marshal(state)
	}
	return c, err
}

func stateOf(state, answer []byte) (session webauthn.SessionData, err error) {
	if len(answer) > maxAnswer {
		return session, refused(errors.New("the answer is too long"))
	}
	err = json.Unmarshal(state, &session)
	return session, err
}

func refused(err error) error { return fmt.Errorf("%w: %w", ErrRefused, err) }

func keyOf(c *webauthn.Credential) Key {
	k := Key{ID: c.ID, PublicKey: c.PublicKey, Counter: c.Authenticator.SignCount, Flags: byte(c.Flags.ProtocolValue())}
	for _, t := range c.Transport {
		k.Transports = append(k.Transports, string(t))
	}
	return k
}

// WebAuthnID implements webauthn.User.
func (o Owner) WebAuthnID() []byte { return bytes.Clone(o.Handle) }

// WebAuthnName implements webauthn.User.
func (o Owner) WebAuthnName() string { return o.Name }

// WebAuthnDisplayName implements webauthn.User.
func (o Owner) WebAuthnDisplayName() string { return o.Name }

// WebAuthnCredentials implements webauthn.User.
func (o Owner) WebAuthnCredentials() []webauthn.Credential {
	out := make([]webauthn.Credential, len(o.Keys))
	for i, k := range o.Keys {
		out[i] = webauthn.Credential{ID: k.ID, PublicKey: k.PublicKey, Flags: webauthn.NewCredentialFlags(protocol.AuthenticatorFlags(k.Flags))}
		out[i].Authenticator.SignCount = k.Counter
		for _, t := range k.Transports {
			out[i].Transport = append(out[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return out
}

// RPID is the relying party's id: the name in the public address.
func (p *Party) RPID() string { return p.web.Config.RPID }

// Origin is that of the public address, whose pages may ask for passkeys.
func (p *Party) Origin() string { return p.web.Config.RPOrigins[0] }

// SPKI is the public key in the form that others read: a SubjectPublicKeyInfo.
func (k Key) SPKI() ([]byte, error) {
	parsed, err := webauthncose.ParsePublicKey(k.PublicKey)
	if err != nil {
		return nil, err
	}
	var public any
	switch parsed := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		public, err = parsed.ToECDSA()
	case webauthncose.OKPPublicKeyData:
		public = ed25519.PublicKey(parsed.XCoord)
	case webauthncose.RSAPublicKeyData:
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(parsed.Modulus)}
		key.E, err = webauthncose.ParseRSAPublicKeyDataExponent(&parsed)
		public = key
	default:
		err = fmt.Errorf("passkey: a key of the kind %T", parsed)
	}
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKIXPublicKey(public)
}
