package checkpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Submission is what a log sends to a witness: a checkpoint, and the proof that it goes on from
// the size that the witness has cosigned last.
type Submission struct {
	Old        int64
	Proof      []tlog.Hash
	Checkpoint string // a signed note
}

// maxProof is the most lines that a proof can have.
const maxProof = 63

// MaxSubmission is the most bytes of a submission that a witness reads.
const MaxSubmission = 128 << 10

// Text is the submission as it is sent.
func (s Submission) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", s.Old)
	for _, h := range s.Proof {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	return b.String() + "\n" + s.Checkpoint
}

var errSubmission = errors.New("it is no submission: old SIZE, the lines of a proof, an empty line, and a checkpoint")

// ParseSubmission reads a submission.
func ParseSubmission(text string) (s Submission, err error) {
	before, checkpoint, ok := strings.Cut(text, "\n\n")
	if !ok {
		return s, errSubmission
	}
	lines := strings.Split(before, "\n")
	old, ok := strings.CutPrefix(lines[0], "old ")
	if !ok || len(lines)-1 > maxProof {
		return s, errSubmission
	}
	if s.Old, err = parseSize(old); err != nil {
		return s, errSubmission
	}
	for _, l := range lines[1:] {
		h, err := parseHash(l)
		if err != nil {
			return s, errSubmission
		}
		s.Proof = append(s.Proof, h)
	}
	s.Checkpoint = checkpoint
	return s, nil
}

// Origin is the first line of a checkpoint, "" if it has none.
func (s Submission) Origin() string {
	origin, _, _ := strings.Cut(s.Checkpoint, "\n")
	return origin
}

// Text is the signed text of the checkpoint that a submission has.
func Text(submitted string) string {
	_, signed, _ := strings.Cut(submitted, "\n\n")
	text, _, _ := strings.Cut(signed, "\n\n")
	return text + "\n"
}

// emptyTree is the hash of a log without records.
var emptyTree = tlog.Hash(sha256.Sum256(nil))

// Extends reports that the proof leads from one head to a later one.
func Extends(old, next Head, proof []tlog.Hash) bool {
	switch old.Size {
	case 0:
		return len(proof) == 0 && (next.Size > 0 || next.Hash == emptyTree)
	case next.Size:
		return len(proof) == 0 && old.Hash == next.Hash
	}
	return tlog.CheckTree(proof, next.Size, next.Hash, old.Size, old.Hash) == nil
}
