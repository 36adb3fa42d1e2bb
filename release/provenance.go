package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
)

// signature signs with a private key. A nil *signature means that nothing is signed.
type signature struct {
	private ed25519.PrivateKey
	keyID   string // SHA-256 of the public key in DER
}

// signer reads a private key as `openssl genpkey -algorithm ed25519` writes it. It returns
// nil for an empty name.
func signer(file string) (*signature, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("-key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("-key: %s is not PEM", file)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, is := key.(ed25519.PrivateKey)
	if err != nil || !is {
		return nil, fmt.Errorf("-key: %s is not a private Ed25519 key in PKCS #8", file)
	}
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	id := sha256.Sum256(der)
	return &signature{private, hex.EncodeToString(id[:])}, err
}

func (s *signature) sign(text []byte) []byte { return ed25519.Sign(s.private, text) }

// The types of in-toto and SLSA, https://slsa.dev/spec/v1.0/provenance.
type (
	statement struct {
		Type          string    `json:"_type"`
		Subject       []subject `json:"subject"`
		PredicateType string    `json:"predicateType"`
		Predicate     predicate `json:"predicate"`
	}
	subject struct {
		Name   string            `json:"name"`
		Digest map[string]string `json:"digest"`
	}
	predicate struct {
		BuildDefinition definition `json:"buildDefinition"`
		RunDetails      details    `json:"runDetails"`
	}
	definition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []dependency      `json:"resolvedDependencies"`
	}
	dependency struct {
		URI    string            `json:"uri"`
		Digest map[string]string `json:"digest"`
	}
	details struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	}
)

const repository = "https://github.com/countersign/countersign"

// provenance writes an SLSA statement that says from which commit and how the files were
// built, in a DSSE envelope with its signature, if any.
func (r *release) provenance(sign *signature) error {
	digests, err := r.digests()
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		s.Subject = append(s.Subject, subject{name, map[string]string{"sha256": digests[name]}})
	}
	s.Predicate.BuildDefinition = definition{
		BuildType: repository + "/release", ExternalParameters: map[string]string{"version": r.version},
		InternalParameters:   map[string]string{"go": runtime.Version()},
		ResolvedDependencies: []dependency{{"git+" + repository, map[string]string{"gitCommit": r.id}}},
	}
	s.Predicate.RunDetails.Builder.ID = repository + "/release"
	text, err := envelope(s, sign)
	if err != nil {
		return err
	}
	return r.write("countersign_"+r.version+".intoto.jsonl", text)
}

const payloadType = "application/vnd.in-toto+json"

// envelope puts a statement into a DSSE envelope. The signature covers the payload type and
// the payload, each preceded by its length, so that no other pair gives the same bytes.
func envelope(s statement, sign *signature) ([]byte, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	type signed struct {
		KeyID string `json:"keyid"`
		Sig   []byte `json:"sig"`
	}
	out := struct {
		PayloadType string   `json:"payloadType"`
		Payload     string   `json:"payload"`
		Signatures  []signed `json:"signatures"`
	}{payloadType, base64.StdEncoding.EncodeToString(payload), []signed{}}
	if sign != nil {
		out.Signatures = append(out.Signatures, signed{sign.keyID, sign.sign(preAuthentication(payload))})
	}
	text, err := json.Marshal(out)
	return append(text, '\n'), err
}

func preAuthentication(payload []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	b.Write(payload)
	return b.Bytes()
}
