package audit

import (
	"errors"
	"math/bits"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// VerifyEnd verifies at most `most` records at the end of a tenant's log and returns
// how many it read: the hash of each record, and the roots of the complete subtrees
// among them. It does not verify the rest of the log.
func VerifyEnd(tx store.Tx, tenant string, most int64) (v countersign.AuditVerification, read int64, err error) {
	h, err := loadHead(tx, tenant)
	switch {
	case errors.Is(err, errHead):
		return broken(v, 0), 0, nil
	case err != nil:
		return v, 0, err
	}
	whole := verification{found: h.before(most)}
	at := head{Tree: merkle.Tree{Size: max(0, h.Size-most)}}
	first := at.Size
	for at.Size < whole.found.Size {
		rows, _, err := batch(tx, tenant, &at)
		if err != nil {
			return v, 0, err
		}
		for _, row := range rows[:min(int64(len(rows)), whole.found.Size-at.Size)] {
			if _, ok := fits(row, at.Size); !ok {
				rows = nil
				break
			}
			at.Size++
		}
		if len(rows) == 0 {
			v.Records, v.Head = h.Size, h.Hash()
			return broken(v, at.Size), at.Size - first, nil
		}
	}
	for done := false; !done && err == nil; {
		done, err = whole.span(tx, tenant)
	}
	return whole.result, whole.found.Size - first, err
}

// before is the head without its last complete subtrees that together hold at most
// `most` records.
func (h *head) before(most int64) head {
	left := h.Size
	for h.Size-left < most && left > 0 {
		narrowest := left & -left
		if h.Size-left+narrowest > most {
			break
		}
		left -= narrowest
	}
	return head{Tree: merkle.Tree{Size: left, Roots: append(h.Roots[:0:0], h.Roots[:bits.OnesCount64(uint64(left))]...)}}
}
