package checkpoint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy is what a reader asks of a cosigned head: so many of these witnesses, and which epoch
// of a log's origin is taken besides the first. The zero Policy asks no witness.
type Policy struct {
	Witnesses []Key
	Quorum    int // 0: all of them
	Epoch     int64
}

var (
	errQuorum = errors.New("a quorum must be between 1 and the number of witnesses")
	errTwice  = errors.New("the same key stands twice: one witness counts once")
	errEpoch  = errors.New("an epoch is no less than 0")
)

// NewPolicy reads the vkeys of witnesses. A quorum of 0 is all of them.
func NewPolicy(vkeys []string, quorum int, epoch int64) (p Policy, err error) {
	p = Policy{Quorum: quorum, Epoch: epoch}
	for _, vkey := range vkeys {
		k, err := ParseWitnessKey(vkey)
		if err != nil {
			return p, fmt.Errorf("%q: %w", vkey, err)
		}
		if slices.ContainsFunc(p.Witnesses, func(other Key) bool { return other.public.Equal(k.public) }) {
			return p, fmt.Errorf("%q: %w", vkey, errTwice)
		}
		p.Witnesses = append(p.Witnesses, k)
	}
	switch {
	case quorum < 0 || quorum > len(vkeys):
		return p, errQuorum
	case epoch < 0:
		return p, errEpoch
	}
	return p, nil
}

// Asked is how many witnesses must have cosigned.
func (p Policy) Asked() int {
	if p.Quorum == 0 {
		return len(p.Witnesses)
	}
	return p.Quorum
}

// Judged is a cosigned head as a reader finds it: the epoch comes first, since a log of another
// epoch is another log.
type Judged struct {
	Epoch int64
	Head  Head
	By    []Cosignature // of the policy's witnesses, in its order
}

// Judge reads a cosigned head of the log with an id, and says whether it is what the policy
// asks for. An error names what isn't.
func (p Policy) Judge(signed, log string) (j Judged, err error) {
	text, lines, err := split(signed)
	if err != nil {
		return j, err
	}
	if j.Head, err = ParseHead(text); err != nil {
		return j, err
	}
	of, epoch, ok := parseOrigin(j.Head.Origin)
	if j.Epoch = epoch; !ok || of != logName(log) {
		return j, fmt.Errorf("the cosigned head is of another log: %s", j.Head.Origin)
	}
	if j.Epoch != 0 && j.Epoch != p.Epoch {
		return j, fmt.Errorf("the cosigned head is of epoch %d of its log, %s, and that epoch was not named", j.Epoch, j.Head.Origin)
	}
	for _, witness := range p.Witnesses {
		if c, ok := cosignedBy(witness, text, lines); ok {
			j.By = append(j.By, c)
		}
	}
	if len(j.By) < p.Asked() {
		return j, fmt.Errorf("%d of the %d witnesses that were given have cosigned the head of %d records, and %d were asked for", len(j.By), len(p.Witnesses), j.Head.Size, p.Asked())
	}
	return j, nil
}

// Read is the head in a note, whoever signed it.
func Read(signed string) (Head, error) {
	text, _, err := split(signed)
	if err != nil {
		return Head{}, err
	}
	return ParseHead(text)
}

// signatureLine is one line below the text of a note.
type signatureLine struct {
	name, encoded string
	data          []byte // hash of the key, and signature
}

var lineForm = regexp.MustCompile("^— ([^+\x01-\x20\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+) ([A-Za-z0-9+/]+={0,2})$")

// maxLines bounds the signatures of a note.
const maxLines = 100

// split reads a note as docs/reference/receipt.md has it: as the library of signed notes does, and
// with base64 in its one spelling.
func split(signed string) (text string, lines []signatureLine, err error) {
	at := strings.LastIndex(signed, "\n\n")
	if len(signed) > maxText || at < 0 || !strings.HasSuffix(signed, "\n") || strings.ContainsFunc(signed, isControl) {
		return "", nil, ErrCheckpoint
	}
	text = signed[:at+1]
	for l := range strings.Lines(signed[at+2:]) {
		found := lineForm.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if found == nil || len(lines) == maxLines {
			return "", nil, ErrCheckpoint
		}
		data, err := base64.StdEncoding.Strict().DecodeString(found[2])
		if err != nil || len(data) <= keyHashBytes {
			return "", nil, ErrCheckpoint
		}
		lines = append(lines, signatureLine{found[1], found[2], data})
	}
	if len(lines) == 0 {
		return "", nil, ErrCheckpoint
	}
	return text, lines, nil
}

func isControl(r rune) bool { return r < ' ' && r != '\n' }

// endOfTime is the first second of the year 10000.
const endOfTime = 253_402_300_800

// cosignedBy is the first valid cosignature of a text by a witness.
func cosignedBy(witness Key, text string, lines []signatureLine) (c Cosignature, ok bool) {
	for _, l := range lines {
		if l.name != witness.name || binary.BigEndian.Uint32(l.data) != witness.KeyHash() || !witness.Verify([]byte(text), l.data[keyHashBytes:]) {
			continue
		}
		if seconds := binary.BigEndian.Uint64(l.data[keyHashBytes:]); seconds < endOfTime {
			return Cosignature{Witness: witness, At: time.Unix(int64(seconds), 0).UTC(), Line: "— " + l.name + " " + l.encoded + "\n"}, true
		}
	}
	return c, false
}

var originForm = regexp.MustCompile(`^countersign/[0-9A-Za-z._-]{1,64}/([0-9a-f]{16})(?:/([1-9][0-9]{0,8}))?$`)

// parseOrigin is the name of the log in an origin, and its epoch: 0 is the first.
func parseOrigin(origin string) (log string, epoch int64, ok bool) {
	found := originForm.FindStringSubmatch(origin)
	if found == nil {
		return "", 0, false
	}
	if found[2] != "" {
		epoch, _ = strconv.ParseInt(found[2], 10, 64) // at most nine digits
	}
	return found[1], epoch, true
}

// logName stands for a log's id in its origin.
func logName(log string) string {
	sum := sha256.Sum256([]byte(log))
	return hex.EncodeToString(sum[:8])
}
