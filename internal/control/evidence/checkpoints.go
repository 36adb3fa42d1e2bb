package evidence

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// EnsureLogKey makes the key that signs the checkpoints of the audit logs, at the first start of a
// store, so that whoever runs a witness can have its public half before there is one.
func (s *AuditService) EnsureLogKey(ctx context.Context) error {
	made := false
	look := func(tx store.Tx) error {
		_, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if made = err == nil; errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	if err := s.Store.View(ctx, look); err != nil || made {
		return err
	}
	return s.Store.Update(ctx, func(tx store.Tx) error {
		if err := look(tx); err != nil || made {
			return err
		}
		seed, installation := s.Config.NewSecret(), s.Config.NewSecret()
		k := &records.LogKey{Installation: hex.EncodeToString(installation[:16]), Seed: seed[:]}
		_, err := records.LogKeys.Put(tx, store.Realm, records.LogKeyID, k, 0)
		return err
	})
}

// LogKeys are the vkeys by which the checkpoints of the audit log of the actor's tenant are signed,
// and for a realm administrator those of the realm's.
func (s *AuditService) LogKeys(ctx context.Context, a core.Actor) (tenant, realm string, err error) {
	err = s.Store.View(ctx, func(tx store.Tx) error {
		k, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
		if err != nil {
			return err
		}
		tenant = signerOf(k, a.Tenant).String()
		if a.Realm {
			realm = signerOf(k, store.Realm).String()
		}
		return nil
	})
	return tenant, realm, core.Public(err)
}

func signerOf(k *records.LogKey, log string) checkpoint.Signer {
	return checkpoint.NewSigner(k.Origin(log), k.Seed)
}

// errNotCosigned is the answer before the first cosignature.
var errNotCosigned = countersign.Errorf(countersign.CodeNotFound, "there is no checkpoint that a witness has cosigned yet; witnesses are a setting of the service (SVC_PLATFORM_WITNESSES)")

// Checkpoint is the newest head of a log that witnesses have cosigned.
func (s *AuditService) Checkpoint(ctx context.Context, a core.Actor, realm bool) (countersign.AuditCheckpoint, error) {
	log, err := logOf(a, realm)
	if err != nil {
		return countersign.AuditCheckpoint{}, err
	}
	found, err := s.newest(ctx, a, log)
	if err == nil && found == nil {
		err = errNotCosigned
	}
	if err != nil {
		return countersign.AuditCheckpoint{}, err
	}
	return *found, nil
}

// newest is the newest cosigned head of a log, nil for none.
func (s *AuditService) newest(ctx context.Context, a core.Actor, log string) (c *countersign.AuditCheckpoint, err error) {
	err = s.readSpan(ctx, a, func(tx store.Tx) (err error) {
		c, err = s.newestIn(tx, log)
		return err
	})
	return c, err
}

func (s *AuditService) newestIn(tx store.Tx, log string) (*countersign.AuditCheckpoint, error) {
	k, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := records.CosignedHeads.List(tx, log, records.NewestCosigned(k.Epoch))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return s.shownCheckpoint(k, log, &found[0])
}

func (s *AuditService) shownCheckpoint(k *records.LogKey, log string, kept *records.Cosigned) (*countersign.AuditCheckpoint, error) {
	key := signerOf(k, log).Key
	head, err := checkpoint.Open(kept.Checkpoint, key)
	if err != nil {
		return nil, errors.Join(store.ErrDamaged, err)
	}
	c := &countersign.AuditCheckpoint{
		Epoch: int64(k.Epoch), Origin: head.Origin, Records: head.Size, Head: hex.EncodeToString(head.Hash[:]), LogKey: key.String(), Checkpoint: kept.Checkpoint,
		Cosignatures: []countersign.AuditCosignature{},
	}
	for _, by := range checkpoint.Cosignatures(kept.Checkpoint, s.Config.Witnesses) {
		c.Cosignatures = append(c.Cosignatures, countersign.AuditCosignature{Witness: by.Witness.String(), At: by.At})
	}
	return c, nil
}
