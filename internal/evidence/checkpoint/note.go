package checkpoint

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Sign is the checkpoint of a head as a note, signed by each signer.
func Sign(h Head, signers ...note.Signer) (string, error) {
	signed, err := note.Sign(&note.Note{Text: h.Text()}, signers...)
	return string(signed), err
}

// ErrUnsigned refuses a checkpoint that none of the keys has signed.
var ErrUnsigned = errors.New("it has no valid signature of that key")

// Open reads a checkpoint that a key has signed, a log's or a witness's. Signatures of other keys
// are ignored.
func Open(signed string, key Key) (Head, error) {
	n, err := open(signed, key)
	if err != nil {
		return Head{}, err
	}
	return ParseHead(n.Text)
}

func open(signed string, keys ...Key) (*note.Note, error) {
	verifiers := make([]note.Verifier, len(keys))
	for i, k := range keys {
		verifiers[i] = k
	}
	n, err := note.Open([]byte(signed), note.VerifierList(verifiers...))
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified), errors.As(err, &invalid):
		return nil, ErrUnsigned
	case err != nil:
		return nil, ErrCheckpoint
	}
	return n, nil
}

// Cosignature is a witness's signature of a checkpoint, and when it was given.
type Cosignature struct {
	Witness Key
	At      time.Time
	Line    string // as it stands in the note, with its newline
}

// Cosignatures are the valid ones that witnesses have given a checkpoint, in the note's order: one
// of each.
func Cosignatures(signed string, witnesses []Key) []Cosignature {
	n, err := open(signed, witnesses...)
	if err != nil {
		return nil
	}
	var out []Cosignature
	for _, s := range n.Sigs {
		for _, k := range witnesses {
			if k.Name() != s.Name || k.KeyHash() != s.Hash {
				continue
			}
			data, err := base64.StdEncoding.DecodeString(s.Base64)
			if err == nil && len(data) >= keyHashBytes+timeBytes {
				seconds := binary.BigEndian.Uint64(data[keyHashBytes:])
				out = append(out, Cosignature{Witness: k, At: time.Unix(int64(seconds), 0).UTC(), Line: line(s)})
			}
			break
		}
	}
	return out
}

// keyHashBytes is the length of the key's hash before a signature.
const keyHashBytes = 4

func line(s note.Signature) string { return "— " + s.Name + " " + s.Base64 + "\n" }

// Cosign is the signature line of one signer for a checkpoint's text, with its newline.
func Cosign(text string, by note.Signer) (string, error) {
	signed, err := note.Sign(&note.Note{Text: text}, by)
	return strings.TrimPrefix(string(signed), text+"\n"), err
}

// Joined is a checkpoint with the lines of a witness's answer that are valid cosignatures of it by
// that witness. Without one it is ErrUnsigned.
func Joined(signed, lines string, witness Key) (string, error) {
	if len(lines) > maxText {
		return "", ErrUnsigned
	}
	text, _, ok := strings.Cut(signed, "\n\n")
	if !ok {
		return "", ErrCheckpoint
	}
	found := Cosignatures(text+"\n\n"+lines, []Key{witness})
	if len(found) == 0 {
		return "", ErrUnsigned
	}
	return signed + found[0].Line, nil
}

// Renewed is Joined without what the witness has cosigned of the checkpoint before.
func Renewed(signed, lines string, witness Key) (string, error) {
	for _, old := range Cosignatures(signed, []Key{witness}) {
		signed = strings.Replace(signed, old.Line, "", 1)
	}
	return Joined(signed, lines, witness)
}
