package evidence

import (
	"encoding/hex"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// cosignedLooked bounds how many cosigned heads of an epoch a receipt looks at: an hour of them.
const cosignedLooked = 60

// cosigned is the oldest head of a log that witnesses have cosigned and that contains a record,
// with the path from there to the log's present head; nil for none. Of several it is the one that
// the most of the present witnesses have cosigned: one that was down for a while is asked for in a
// quorum all the same. A head that the log doesn't go on from, since it was rewound, is none of it.
func (s *ReceiptService) cosigned(tx store.Tx, tenant string, last int64, l receipt.Log) (best *receipt.Cosigned, err error) {
	key, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	most := -1
	for epoch := 0; err == nil && epoch <= key.Epoch && most < len(s.Config.Witnesses); epoch++ {
		var heads []records.Cosigned
		for _, q := range []store.Query{records.CosignedFrom(epoch, last+1, cosignedLooked), records.NewestCosigned(epoch)} {
			failed := records.CosignedHeads.EachReadable(tx, tenant, q, cosignedLooked,
				func(c *records.Cosigned) error { heads = append(heads, *c); return nil }, passOver)
			err = errors.Join(err, failed)
		}
		for _, c := range heads {
			by := len(checkpoint.Cosignatures(c.Checkpoint, s.Config.Witnesses))
			if by <= most || c.Size <= last || err != nil {
				continue
			}
			var path []tlog.Hash
			var is bool
			if path, is, err = s.leads(tx, tenant, c.Checkpoint, l); is {
				best, most = &receipt.Cosigned{Checkpoint: c.Checkpoint, Proof: hexed(path)}, by
			}
		}
	}
	return best, err
}

// passOver goes on behind a head that can't be read: the receipt has another, or none.
func passOver(store.Row, error) error { return nil }

// leads is the path from a cosigned head to the head of a log; false if there is none.
func (s *ReceiptService) leads(tx store.Tx, tenant, signed string, l receipt.Log) (path []tlog.Hash, is bool, err error) {
	head, err := checkpoint.Read(signed)
	if err != nil || head.Size < 1 || head.Size > l.Size {
		return nil, false, nil
	}
	grown, err := s.prover.Grown(tx, tenant, head.Size, l.Size)
	if audit.Broken(err) {
		return nil, false, nil
	}
	own := checkpoint.Head{Size: l.Size, Hash: merkle.ParseHash(l.Root)}
	return grown.Proof, err == nil && checkpoint.Extends(head, own, grown.Proof), err
}

func hexed(path []tlog.Hash) []string {
	out := make([]string, len(path))
	for i, h := range path {
		out[i] = hex.EncodeToString(h[:])
	}
	return out
}
