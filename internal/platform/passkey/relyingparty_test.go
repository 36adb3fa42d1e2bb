package passkey_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/testing/authenticator"
)

func TestPasskeysAreOfAddressesThatBrowsersAllow(t *testing.T) {
	for address, allowed := range map[string]bool{
		"https://countersign.example.com": true, "https://countersign.example.com:8443": true, "http://localhost:8080": true, "http://a.localhost": true,
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "https://192.0.2.1": false, "http://countersign.example.com": false, "http://localhost.example.com": false, "": false,
	} {
		if _, err := passkey.New(address); (err == nil) != allowed {
			t.Errorf("%q: %v", address, err)
		}
	}
}

const origin, name = "https://countersign.example.com", "countersign.example.com"

// made is a party, an authenticator with a key there, and the key's owner.
func made(t *testing.T) (*passkey.Party, *authenticator.Authenticator, passkey.Owner) {
	t.Helper()
	p, err := passkey.New(origin)
	if err != nil {
		t.Fatal(err)
	}
	a, o := authenticator.New(t, origin, name), passkey.Owner{Handle: []byte("handle-of-ada"), Name: "ada@example.com"}
	c, err := p.AskToRegister(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"residentKey":"required"`, `"userVerification":"required"`, `"id":"` + name + `"`} {
		if !strings.Contains(string(c.Options), want) {
			t.Errorf("the options don't say %s: %s", want, c.Options)
		}
	}
	key, err := p.Registered(o, c.State, []byte(a.Create(c.Options)))
	if err != nil {
		t.Fatal(err)
	}
	o.Keys = []passkey.Key{key}
	return p, a, o
}

func TestAnAnswerFitsItsQuestionOrIsRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*authenticator.Authenticator)
		want  error
	}{
		{"all is well", func(*authenticator.Authenticator) {}, nil},
		{"a page of another origin", func(a *authenticator.Authenticator) { a.Origin = "https://evil.example" }, passkey.ErrRefused},
		{"another port", func(a *authenticator.Authenticator) { a.Origin = origin + ":444" }, passkey.ErrRefused},
		{"another relying party", func(a *authenticator.Authenticator) { a.RPID = "example.com" }, passkey.ErrRefused},
		{"a user who wasn't verified", func(a *authenticator.Authenticator) { a.Unverified = true }, passkey.ErrRefused},
		{"in the name of another user", func(a *authenticator.Authenticator) { a.Handle = []byte("handle-of-eve") }, passkey.ErrRefused},
		{"in nobody's name", func(a *authenticator.Authenticator) { a.Handle = []byte{} }, passkey.ErrRefused},
	} {
		p, a, o := made(t)
		test.spoil(a)
		c, err := p.AskToSignIn()
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.SignedIn(c.State, []byte(a.Get(c.Options)), func([]byte) (passkey.Owner, error) { return o, nil })
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAnAnswerIsToItsOwnQuestionAlone(t *testing.T) {
	p, a, o := made(t)
	first, _ := p.AskToSignIn()
	second, _ := p.AskToSignIn()
	find := func([]byte) (passkey.Owner, error) { return o, nil }
	answer := a.Get(first.Options)
	if _, err := p.SignedIn(second.State, []byte(answer), find); !errors.Is(err, passkey.ErrRefused) {
		t.Errorf("the answer to another question: %v", err)
	}
	for _, wrong := range []string{"", "{}", "null", strings.Repeat("x", 9<<10), strings.Replace(answer, `"signature":"`, `"signature":"AA`, 1)} {
		if _, err := p.SignedIn(first.State, []byte(wrong), find); !errors.Is(err, passkey.ErrRefused) {
			t.Errorf("%.40q: %v", wrong, err)
		}
	}
	registering, _ := p.AskToRegister(o)
	if _, err := p.SignedIn(registering.State, []byte(a.Get(registering.Options)), find); !errors.Is(err, passkey.ErrRefused) {
		t.Errorf("a registration's question: %v", err)
	}
}

// TestWhereBrowsersAllowNoPasskeysIsSaid, to the operator at the start.
func TestWhereBrowsersAllowNoPasskeysIsSaid(t *testing.T) {
	for address, want := range map[string]string{
		"https://192.0.2.1":              "browsers allow passkeys for names, and 192.0.2.1 is a network address",
		"http://countersign.example.com": "browsers allow passkeys for https addresses, and for http://localhost",
	} {
		if _, err := passkey.New(address); err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", address, err, want)
		}
	}
}

// TestARefusedAnswerSaysWhyInTheLog: visitors are told no more than that it was refused.
func TestARefusedAnswerSaysWhyInTheLog(t *testing.T) {
	p, a, o := made(t)
	a.Public = authenticator.RS256(bytes.Repeat([]byte{0xff}, 128), []byte{1, 0, 1})
	asked, err := p.AskToRegister(o)
	if err != nil {
		t.Fatal(err)
	}
	_, weak := p.Registered(o, asked.State, []byte(a.Create(asked.Options)))
	_, long := p.Registered(o, asked.State, make([]byte, 1<<20))
	p, a, o = made(t)
	o.Keys[0].Counter, a.Counter = 7, 7
	c, err := p.AskToSignIn()
	if err != nil {
		t.Fatal(err)
	}
	_, copied := p.SignedIn(c.State, []byte(a.Get(c.Options)), func([]byte) (passkey.Owner, error) { return o, nil })
	for _, test := range []struct {
		err  error
		want string
	}{
		{weak, "passkey: the answer is not right: an RSA key of 1024 bits with the exponent 65537 is too weak"},
		{long, "passkey: the answer is not right: the answer is too long"},
		{copied, "passkey: the counter of the key has not risen"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}

// TestACounterMustRise, where an authenticator has one.
func TestACounterMustRise(t *testing.T) {
	for _, test := range []struct {
		stored, next uint32
		want         error
	}{{0, 0, nil}, {0, 1, nil}, {7, 8, nil}, {7, 7, passkey.ErrCopied}, {7, 6, passkey.ErrCopied}, {7, 0, passkey.ErrCopied}} {
		p, a, o := made(t)
		o.Keys[0].Counter, a.Counter = test.stored, test.next
		c, _ := p.AskToSignIn()
		key, err := p.SignedIn(c.State, []byte(a.Get(c.Options)), func([]byte) (passkey.Owner, error) { return o, nil })
		if !errors.Is(err, test.want) || err == nil && key.Counter != test.next {
			t.Errorf("%d after %d: %d, %v", test.next, test.stored, key.Counter, err)
		}
	}
}

// TestAKeyThatNobodyOrAnybodyCouldSignForIsNotTaken: without attestation nothing else reads
// a new key before it first signs in.
func TestAKeyThatNobodyOrAnybodyCouldSignForIsNotTaken(t *testing.T) {
	modulus := func(bits int) []byte { return bytes.Repeat([]byte{0xff}, bits/8) }
	for name, c := range map[string]struct {
		public []byte
		want   error
	}{
		"its own":                 {nil, nil},
		"RSA":                     {authenticator.RS256(modulus(2048), []byte{1, 0, 1}), nil},
		"RSA of 1024 bits":        {authenticator.RS256(modulus(1024), []byte{1, 0, 1}), passkey.ErrRefused},
		"RSA without a modulus":   {authenticator.RS256(nil, []byte{1, 0, 1}), passkey.ErrRefused},
		"RSA with the exponent 1": {authenticator.RS256(modulus(2048), []byte{1}), passkey.ErrRefused},
		"a point off the curve":   {authenticator.ES256(bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)), passkey.ErrRefused},
		"no point":                {authenticator.ES256(nil, nil), passkey.ErrRefused},
	} {
		p, a, o := made(t)
		a.Public = c.public
		asked, err := p.AskToRegister(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Registered(o, asked.State, []byte(a.Create(asked.Options))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAKeyIsReadByOthersInOneForm, of each algorithm: P-256 is in the tests of receipts.
func TestAKeyIsReadByOthersInOneForm(t *testing.T) {
	modulus := append([]byte{0x80}, bytes.Repeat([]byte{7}, 255)...)
	for name, key := range map[string][]byte{
		"EdDSA": append([]byte{0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20}, bytes.Repeat([]byte{9}, 32)...),
		"RS256": append(append([]byte{0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59, 0x01, 0x00}, modulus...), 0x21, 0x43, 0x01, 0x00, 0x01),
	} {
		spki, err := passkey.Key{PublicKey: key}.SPKI()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read, err := x509.ParsePKIXPublicKey(spki)
		switch read := read.(type) {
		case ed25519.PublicKey:
			if name != "EdDSA" || !bytes.Equal(read, bytes.Repeat([]byte{9}, 32)) {
				t.Errorf("%s: %x", name, read)
			}
		case *rsa.PublicKey:
			if name != "RS256" || !bytes.Equal(read.N.Bytes(), modulus) || read.E != 65537 {
				t.Errorf("%s: %v", name, read)
			}
		default:
			t.Errorf("%s: %T, %v", name, read, err)
		}
	}
	if _, err := (passkey.Key{PublicKey: []byte("no key")}).SPKI(); err == nil {
		t.Error("what is no key has a form")
	}
}
