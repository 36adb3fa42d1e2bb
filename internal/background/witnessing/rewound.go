package witnessing

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RewoundAction is the action that is recorded, once, when a log turns out not to be what a witness
// has cosigned: webhooks follow it.
const RewoundAction = "audit.rewound"

// rewoundError says that a witness has cosigned what the log is not.
type rewoundError struct{ how string }

func (e *rewoundError) Error() string { return "audit_rewound: " + e.how }

// tell records that a log is not what a witness has cosigned, unless that is recorded already.
func (s *Submitter) tell(ctx context.Context, at int, tenant string, found *rewoundError) {
	s.mu.Lock()
	told := s.logs[tenant] == nil || s.logs[tenant].told[at]
	s.mu.Unlock()
	if told {
		return
	}
	key := s.cfg.Witnesses[at].Key
	err := s.store.Update(ctx, func(tx store.Tx) error {
		id := records.RewoundID(key.KeyHash(), tenant)
		_, _, err := records.Rewinds.Get(tx, store.Realm, id)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		mark := &records.Rewound{Witness: key.String(), Log: tenant, How: found.how, At: s.cfg.Now()}
		if _, err := records.Rewinds.Put(tx, store.Realm, id, mark, 0); err != nil {
			return err
		}
		return audit.Append(tx, tenant, []countersign.AuditRecord{{
			At: mark.At, Actor: countersign.SystemPrincipal, Action: RewoundAction, Subject: "witness/" + key.Name(), Outcome: countersign.AuditDone,
			After: "audit_rewound", Reason: fmt.Sprintf("the log is not what %s has cosigned: %s", key.Name(), found.how),
		}})
	})
	if err == nil {
		s.note(tenant, func(l *shown) { l.told[at] = true })
	} else if ctx.Err() == nil {
		s.cfg.Log.Warn("that a log was rewound is not recorded", "tenant", tenant, "witness", key.Name(), "error", err)
	}
}
