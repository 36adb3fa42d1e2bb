package evidence

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// beginEpoch is its action in the audit logs. It runs on a stopped store and is no operation of the
// API.
const beginEpoch = "audit.epoch"

// Epoch is what the audit logs go on as after a new epoch has begun.
type Epoch struct {
	Epoch int        `json:"epoch"`
	Logs  []EpochLog `json:"logs"`
}

// EpochLog is one log of an epoch.
type EpochLog struct {
	TenantID string `json:"tenantId"` // empty for the realm's
	LogKey   string `json:"logKey"`   // its vkey, for witnesses
	Records  int64  `json:"records"`  // before the epoch's own
	Cosigned int64  `json:"cosigned"` // records of the last head that witnesses have cosigned before
}

// BeginEpoch gives each log of the store a new origin, with a key of its own: to witnesses it is
// another log, which they cosign from its beginning once they know it. Its first record under that
// origin has the reason, and the last checkpoint that was cosigned under the one before. All of it
// is one commit.
func (s *AuditService) BeginEpoch(ctx context.Context, reason string) (begun Epoch, err error) {
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		before, version, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err != nil {
			return err
		}
		seed := s.Config.NewSecret()
		next := &records.LogKey{Installation: before.Installation, Epoch: before.Epoch + 1, Seed: seed[:]}
		if _, err := records.LogKeys.Put(tx, store.Realm, records.LogKeyID, next, version); err != nil {
			return err
		}
		if err := endRewinds(tx); err != nil {
			return err
		}
		tenants, err := records.TenantIDs(tx)
		if err != nil {
			return err
		}
		begun = Epoch{Epoch: next.Epoch, Logs: nil}
		for _, log := range append([]string{store.Realm}, tenants...) {
			made, err := s.beginLog(tx, log, before, next, reason)
			if err != nil {
				return err
			}
			begun.Logs = append(begun.Logs, made)
		}
		return nil
	})
	return begun, core.Public(err)
}

func (s *AuditService) beginLog(tx store.Tx, log string, before, next *records.LogKey, reason string) (made EpochLog, err error) {
	made = EpochLog{TenantID: log, LogKey: signerOf(next, log).Key.String()}
	if made.Records, err = audit.Size(tx, log); err != nil {
		return made, err
	}
	rec := s.Record(core.Actor{Principal: access.System(countersign.DefaultTenant)}, beginEpoch, "log/"+next.Origin(log))
	rec.Before, rec.After, rec.Reason = before.Origin(log), next.Origin(log), reason
	last, err := records.CosignedHeads.List(tx, log, records.NewestCosigned(before.Epoch))
	if err != nil {
		return made, err
	}
	if len(last) > 0 {
		rec.Cosigned, made.Cosigned = last[0].Checkpoint, last[0].Size
	}
	return made, core.AppendAudit(tx, log, rec)
}

// endRewinds ends what witnesses have said of the epoch before: its record says why it ended.
func endRewinds(tx store.Tx) error {
	rows, err := tx.List(store.Meta, store.Realm, records.EachRewound())
	for _, row := range rows {
		if err == nil {
			err = tx.Delete(store.Meta, store.Realm, row.ID)
		}
	}
	return err
}
