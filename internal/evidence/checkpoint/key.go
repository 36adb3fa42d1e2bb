package checkpoint

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/countersign/countersign"
)

// Kinds of keys, as signed notes number them.
const (
	ofLog     = 1 // signs the text itself
	ofWitness = 4 // signs the text and a time (cosignature/v1)
)

// Key is a public key with its name and kind, as a vkey spells it: NAME+HASH+KEY.
type Key struct {
	name   string
	kind   byte
	public ed25519.PublicKey
}

// LogKey is the public key by which a log signs its checkpoints.
func LogKey(origin string, public ed25519.PublicKey) Key { return Key{origin, ofLog, public} }

// WitnessKey is the public key by which a witness cosigns.
func WitnessKey(name string, public ed25519.PublicKey) Key { return Key{name, ofWitness, public} }

var (
	errVKey    = errors.New("it is no vkey of an Ed25519 key: NAME+8 digits of hex+base64")
	errLog     = errors.New("it is no vkey of a log: its key is a witness's")
	errWitness = errors.New("it is no vkey of a witness: its key signs no cosignatures")
)

// ParseLogKey reads the vkey of a log.
func ParseLogKey(vkey string) (Key, error) {
	k, err := parseKey(vkey)
	if err == nil && k.kind != ofLog {
		err = errLog
	}
	return k, err
}

// ParseWitnessKey reads the vkey of a witness.
func ParseWitnessKey(vkey string) (Key, error) {
	k, err := parseKey(vkey)
	if err == nil && k.kind != ofWitness {
		err = errWitness
	}
	return k, err
}

func parseKey(vkey string) (Key, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(data) != 1+ed25519.PublicKeySize || !ValidName(name) {
		return Key{}, errVKey
	}
	k := Key{name, data[0], data[1:]}
	if (k.kind != ofLog && k.kind != ofWitness) || hash != fmt.Sprintf("%08x", k.KeyHash()) || countersign.CheckEd25519(k.public) != nil {
		return Key{}, errVKey
	}
	return k, nil
}

// ValidName reports that a text can name a key: not empty, without white space, and without +.
func ValidName(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsSpace) < 0 && !strings.Contains(name, "+")
}

// String is the vkey.
func (k Key) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(k.material()))
}

func (k Key) material() []byte { return append([]byte{k.kind}, k.public...) }

// Name implements note.Verifier.
func (k Key) Name() string { return k.name }

// PublicKey is the key without its name.
func (k Key) PublicKey() ed25519.PublicKey { return k.public }

// KeyHash implements note.Verifier.
func (k Key) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(k.name+"\n"), k.material()...))
	return binary.BigEndian.Uint32(sum[:])
}

// Verify implements note.Verifier.
func (k Key) Verify(text, signature []byte) bool {
	if k.kind == ofLog {
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(k.public, text, signature)
	}
	if len(signature) != timeBytes+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(signature)
	return seconds < 1<<63 && ed25519.Verify(k.public, cosigned(int64(seconds), text), signature[timeBytes:])
}

// timeBytes is the length of the time before a cosignature.
const timeBytes = 8

// cosigned is what a witness signs of a text at a time.
func cosigned(seconds int64, text []byte) []byte {
	return append([]byte("cosignature/v1\ntime "+strconv.FormatInt(seconds, 10)+"\n"), text...)
}

// Signer signs the checkpoints of a log.
type Signer struct {
	Key
	private ed25519.PrivateKey
}

// NewSigner makes the signer of a log of its private key's seed.
func NewSigner(origin string, seed []byte) Signer {
	private := ed25519.NewKeyFromSeed(seed)
	return Signer{LogKey(origin, private.Public().(ed25519.PublicKey)), private}
}

// Sign implements note.Signer.
func (s Signer) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.private, text), nil }

// Cosigner cosigns checkpoints at a time.
type Cosigner struct {
	Key
	private ed25519.PrivateKey
	seconds int64
}

// NewCosigner makes the cosigner of a witness of its private key's seed, for a moment in seconds
// since 1970.
func NewCosigner(name string, seed []byte, seconds int64) Cosigner {
	private := ed25519.NewKeyFromSeed(seed)
	return Cosigner{WitnessKey(name, private.Public().(ed25519.PublicKey)), private, seconds}
}

// Sign implements note.Signer.
func (c Cosigner) Sign(text []byte) ([]byte, error) {
	return append(binary.BigEndian.AppendUint64(nil, uint64(c.seconds)), ed25519.Sign(c.private, cosigned(c.seconds, text))...), nil
}

var (
	_ note.Signer   = Signer{}
	_ note.Signer   = Cosigner{}
	_ note.Verifier = Key{}
)
