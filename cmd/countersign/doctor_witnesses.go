package main

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// cosignedLate is when witnesses are behind: while the service runs, a log that grows is shown to
// them each minute.
const cosignedLate = time.Hour

// checkWitnesses says which logs aren't what a witness has cosigned, and how far they are cosigned.
func checkWitnesses(ctx context.Context, cfg config) (found []finding) {
	if len(cfg.Witnesses) == 0 {
		return nil
	}
	var keys []checkpoint.Key
	for _, w := range cfg.Witnesses {
		keys = append(keys, w.Key)
	}
	var state control.WitnessState
	there, err := peek(ctx, cfg.Store, func(tx store.Tx) (err error) {
		state, err = control.Witnessed(tx, keys)
		return err
	})
	switch {
	case !there, errors.Is(err, sqlite.ErrBehind):
		return nil // what the other checks report
	case err != nil:
		return []finding{bad("witnesses", "look again; if it stays so, restore a backup", "how far the audit logs are cosigned is not known: %v", err)}
	}
	for _, r := range state.Rewound {
		found = append(found, bad("witnesses", "keep the store as it is, and find out who changed it; after a restore of an older state, 'countersign audit epoch --reason WHY' begins a new epoch", "audit_rewound: since %s the log of %s is not what %s has cosigned: %s", r.At.Format(time.RFC3339), logName(r.Log), witnessName(keys, r.Witness), r.How))
	}
	switch {
	case state.Never > 0:
		found = append(found, warn("witnesses", "give each witness the logs' vkeys (logKey of 'countersign contract'), and look at the log of the service", "%d audit logs have no cosigned head; %d have", state.Never, state.Cosigned))
	case state.Cosigned == 0:
	case state.Behind > 0 && now().Sub(state.Oldest) > cosignedLate:
		found = append(found, warn("witnesses", "look at the log of the service, and at the witnesses", "%d records of %d audit logs are in no cosigned head; the oldest of the last ones is of %s", state.Behind, state.Cosigned, state.Oldest.Format(time.RFC3339)))
	default:
		found = append(found, fine("witnesses", "the heads of %d audit logs are cosigned, the first of the last ones at %s", state.Cosigned, state.Oldest.Format(time.RFC3339)))
	}
	return found
}

func witnessName(keys []checkpoint.Key, vkey string) string {
	for _, k := range keys {
		if k.String() == vkey {
			return k.Name()
		}
	}
	return vkey
}
