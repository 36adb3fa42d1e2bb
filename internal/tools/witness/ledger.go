// Package witness is a witness of logs (C2SP tlog-witness): it cosigns a checkpoint of a log that
// it knows once the checkpoint is shown to go on from the last one that it cosigned, and keeps that
// before it answers. Whoever has its key can see from then on that a log was rewound, cut or
// forked.
package witness

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/checkpoint"
)

// ledger is all that a witness keeps: its key, and the last head that it cosigned of each log.
type ledger struct {
	Name string              `json:"name"`
	Seed []byte              `json:"seed"` // of its private key
	Logs map[string]cosigned `json:"logs"` // by origin
}

// cosigned is the last head of a log that was cosigned.
type cosigned struct {
	Size int64     `json:"size"`
	Hash tlog.Hash `json:"hash"`
}

// refusalError is why a checkpoint isn't cosigned, with the status of the answer.
type refusalError struct {
	status int
	text   string
	size   int64 // of the last head that was cosigned, with conflict
}

func (r *refusalError) Error() string { return r.text }

// The statuses of the protocol.
const (
	malformed = 400
	untrusted = 403
	unknown   = 404
	conflict  = 409
	unproven  = 422
)

// judge says what a submission comes to: the head that is to be cosigned and kept, with the text
// that is signed, or a refusal. keys are those of the logs that are known, by origin.
func (l *ledger) judge(keys map[string][]checkpoint.Key, submitted string) (next checkpoint.Head, err error) {
	s, err := checkpoint.ParseSubmission(submitted)
	if err != nil {
		return next, &refusalError{status: malformed, text: err.Error()}
	}
	known := keys[s.Origin()]
	if len(known) == 0 {
		return next, &refusalError{status: unknown, text: "no log of this origin is known here; start the witness with --log and the log's vkey"}
	}
	if next, err = opened(s.Checkpoint, known); err != nil {
		return next, err
	}
	last := l.Logs[next.Origin]
	switch {
	case s.Old > next.Size:
		return next, &refusalError{status: malformed, text: fmt.Sprintf("old %d is more than the checkpoint's size, %d", s.Old, next.Size)}
	case s.Old != last.Size, s.Old == next.Size && s.Old > 0 && last.Hash != next.Hash:
		return next, &refusalError{status: conflict, text: "the last checkpoint that was cosigned is another", size: last.Size}
	case !checkpoint.Extends(checkpoint.Head{Size: last.Size, Hash: last.Hash}, next, s.Proof):
		return next, &refusalError{status: unproven, text: fmt.Sprintf("the proof does not lead from size %d to size %d", last.Size, next.Size)}
	}
	return next, nil
}

// opened is the head of a checkpoint that one of a log's keys has signed.
func opened(signed string, keys []checkpoint.Key) (h checkpoint.Head, err error) {
	for _, k := range keys {
		if h, err = checkpoint.Open(signed, k); err == nil && h.Origin == k.Name() {
			return h, nil
		}
	}
	if errors.Is(err, checkpoint.ErrUnsigned) {
		return h, &refusalError{status: untrusted, text: "no key of the log has signed it"}
	}
	return h, &refusalError{status: malformed, text: checkpoint.ErrCheckpoint.Error()}
}

// with is the ledger once a head is cosigned.
func (l *ledger) with(h checkpoint.Head) *ledger {
	next := &ledger{Name: l.Name, Seed: l.Seed, Logs: make(map[string]cosigned, len(l.Logs)+1)}
	for origin, last := range l.Logs {
		next.Logs[origin] = last
	}
	next.Logs[h.Origin] = cosigned{h.Size, h.Hash}
	return next
}

// parseLedger reads a ledger that encode wrote.
func parseLedger(data []byte) (*ledger, error) {
	l := &ledger{}
	if err := json.Unmarshal(data, l); err != nil || len(l.Seed) != seedBytes || !checkpoint.ValidName(l.Name) {
		return nil, errDamaged
	}
	return l, nil
}

func (l *ledger) encode() ([]byte, error) { return json.MarshalIndent(l, "", "  ") }

// seedBytes is the length of the seed of an Ed25519 key.
const seedBytes = 32
