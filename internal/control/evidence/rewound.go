package evidence

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/checkpoint"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// rewoundBy are the names of the witnesses, in the order of the settings, that have cosigned what a
// log is not any more. Without a log, of any.
func rewoundBy(tx store.Tx, witnesses []checkpoint.Key, logs ...string) (names []string, err error) {
	if len(witnesses) == 0 {
		return nil, nil
	}
	found, err := records.Rewinds.List(tx, store.Realm, records.EachRewound())
	for _, w := range witnesses {
		if slices.ContainsFunc(found, func(r records.Rewound) bool {
			return r.Witness == w.String() && (len(logs) == 0 || slices.Contains(logs, r.Log))
		}) {
			names = append(names, w.Name())
		}
	}
	return names, err
}

// AuditRewound are the names of the witnesses that have cosigned what the log of the actor's tenant
// is not any more; for a realm administrator also those of the realm's log. Anybody of the tenant
// may know it.
func (s *AuditService) AuditRewound(ctx context.Context, a core.Actor) (names []string, err error) {
	logs := []string{a.Tenant}
	if a.Realm {
		logs = append(logs, store.Realm)
	}
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		names, err = rewoundBy(tx, s.Config.Witnesses, logs...)
		return err
	})
	return names, core.Public(err)
}

// WitnessState is how far the audit logs of a store are cosigned.
type WitnessState struct {
	Rewound  []records.Rewound // logs that aren't what one of the witnesses has cosigned
	Never    int               // logs of which no head is cosigned
	Cosigned int               // logs of which one is
	Behind   int64             // records that are in none
	Oldest   time.Time         // when the first of the last heads was cosigned
}

// Witnessed is how far all audit logs are cosigned. A log without records is none.
func Witnessed(tx store.Tx, witnesses []checkpoint.Key) (w WitnessState, err error) {
	found, err := records.Rewinds.List(tx, store.Realm, records.EachRewound())
	if err != nil {
		return w, err
	}
	for _, r := range found {
		if slices.ContainsFunc(witnesses, func(k checkpoint.Key) bool { return k.String() == r.Witness }) {
			w.Rewound = append(w.Rewound, r)
		}
	}
	key, _, err := records.LogKeys.Get(tx, store.Realm, records.LogKeyID)
	if errors.Is(err, store.ErrNotFound) { // before its first start with this release
		return w, nil
	}
	tenants, listed := records.TenantIDs(tx)
	for _, log := range append([]string{store.Realm}, tenants...) {
		if err = errors.Join(err, listed); err == nil {
			err = w.add(tx, log, key.Epoch)
		}
	}
	return w, err
}

func (w *WitnessState) add(tx store.Tx, log string, epoch int) error {
	size, err := audit.Size(tx, log)
	if err != nil || size == 0 {
		return err
	}
	newest, err := records.CosignedHeads.List(tx, log, records.NewestCosigned(epoch))
	switch {
	case err != nil:
		return err
	case len(newest) == 0:
		w.Never++
		return nil
	}
	w.Cosigned++
	w.Behind += max(size-newest[0].Size, 0)
	if w.Oldest.IsZero() || newest[0].At.Before(w.Oldest) {
		w.Oldest = newest[0].At
	}
	return nil
}
