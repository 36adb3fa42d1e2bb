package evidence

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/storage/store"
)

// withAnswerKeys adds the records that registered the keys by which receivers signed answers of the
// run: of each key the newest before the call that it answered.
func withAnswerKeys(tx store.Tx, tenant string, steps []countersign.StepRun, found []audit.Sealed) ([]audit.Sealed, error) {
	added := map[int64]bool{}
	log := found
	for i := range steps {
		for _, w := range wordsOf(&steps[i]) {
			before := w.callIn(log, steps[i].ID)
			if before < 0 {
				continue // masking leaves its record out
			}
			r, ok, err := audit.LatestBefore(tx, tenant, "project/"+steps[i].ProjectID, before, func(r *countersign.AuditRecord) bool {
				return r.Outcome == countersign.AuditDone && slices.ContainsFunc(r.AnswerKeys, w.isOf)
			})
			if err != nil {
				return nil, err
			}
			if ok && !added[r.Record.Seq] {
				added[r.Record.Seq] = true
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(x, y audit.Sealed) int { return cmp.Compare(x.Record.Seq, y.Record.Seq) })
	return found, nil
}

// word is a signed answer of a step's receiver.
type word struct {
	keyID    string
	question string // the key of the question that it answers; "": it answers the step's own call
}

// wordsOf are those whose signatures the step shows.
func wordsOf(s *countersign.StepRun) (out []word) {
	if s.AnsweredBy != nil && s.Response != nil && s.Response.Signed != nil {
		out = append(out, word{keyID: s.AnsweredBy.KeyID})
	}
	for i := range s.Settlements {
		r := &s.Settlements[i]
		if !r.Valid || r.Signed == nil {
			continue
		}
		question := s.IdempotencyKey + "~settle-" + strconv.FormatInt(r.N, 10)
		if r.Withdrawing {
			question = s.IdempotencyKey + "~withdraw"
		}
		out = append(out, word{r.KeyID, question})
	}
	return out
}

// callIn is the place in the log of the call that was answered, -1 for none.
func (w word) callIn(log []audit.Sealed, step string) int64 {
	for i := len(log) - 1; i >= 0; i-- {
		switch r := &log[i].Record; {
		case r.Step != step || r.Outcome != countersign.AuditDone:
		case w.question == "" && r.Action == "step.send", w.question != "" && r.Reason == w.question && (r.Action == "steps.ask" || r.Action == "steps.withdraw"):
			return r.Seq
		}
	}
	return -1
}

func (w word) isOf(text string) bool {
	key, err := signature.ParseAnswerKey(text)
	return err == nil && signature.AnswerKeyID(key) == w.keyID
}
