// Package storewide is what is done once to a whole store, over all tenants: after a restore, and at
// the first start of a release.
package storewide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/projects"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// StoreService is what is done once to a whole store, over all tenants.
type StoreService struct {
	*core.Core
	projects *projects.ProjectService
}

// NewStores returns the use cases.
func NewStores(c *core.Core, projects *projects.ProjectService) *StoreService {
	return &StoreService{Core: c, projects: projects}
}

// Restored counts what a restore changed, over all tenants.
type Restored struct {
	Projects int `json:"projects"` // each has a new revision, disabled
	Tokens   int `json:"tokens"`   // valid as they were in the backup; or revoked, if requested
	Sessions int `json:"sessions"` // ended
	Secrets  int `json:"secrets"`  // ended: links, codes and questions that work once
	Runs     int `json:"runs"`     // unfinished, each of which says that it was restored
}

// restoreAction is its action in the audit logs. It runs on a stopped store and is no
// operation of the API.
const restoreAction = "store.restore"

var restorer = core.Actor{Principal: access.System(countersign.DefaultTenant)}

// AfterRestore makes a store that was restored from a backup safe to start. The store
// doesn't know what was sent after the backup, so nothing that was planned before may be
// sent: each project gets a new revision, disabled, and every earlier plan and unfinished
// run has drifted. All sessions end, since some had ended after the backup, and all that
// works once, since it may have been used; tokens are revoked if requested. Each unfinished
// run says that it may have been sent by the store that this one replaces. All of it is one
// commit, with the reason in the audit logs. It refuses a store that replicas have a record
// in: they would continue earlier runs. A store that was copied may be started again.
func (s *StoreService) AfterRestore(ctx context.Context, reason string, revokeTokens bool) (done Restored, err error) {
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		done = Restored{}
		if err := unused(tx); err != nil {
			return err
		}
		tenants, err := records.TenantIDs(tx)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			if err := s.afterRestore(tx, tenant, reason, revokeTokens, &done); err != nil {
				return err
			}
		}
		if done.Sessions, err = endAllSessions(tx); err != nil {
			return err
		}
		if done.Secrets, err = records.EndWhatWorksOnce(tx); err != nil {
			return err
		}
		if done.Runs, err = s.restoreRuns(tx); err != nil {
			return err
		}
		if err := records.UnmarkCopied(tx); err != nil {
			return err
		}
		return s.AuditIn(tx, store.Realm, restorer, restoreAction, "store", core.Change{Reason: reason})
	})
	return done, err
}

// ErrReplicas says that replicas have a record in the store.
var ErrReplicas = errors.New("replicas use the store")

func unused(tx store.Tx) error {
	found, err := records.AllReplicas(tx)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%w: %s is one of %d", ErrReplicas, found[0].ID, len(found))
	}
	return err
}

func (s *StoreService) afterRestore(tx store.Tx, tenant, reason string, revokeTokens bool, done *Restored) error {
	heads, err := records.Projects.List(tx, tenant, store.Query{})
	if err != nil {
		return err
	}
	for _, head := range heads {
		if err := s.reviseAfterRestore(tx, tenant, head.ID, reason); err != nil {
			return err
		}
		done.Projects++
	}
	n, err := s.tokensAfterRestore(tx, tenant, reason, revokeTokens)
	done.Tokens += n
	return err
}

// reviseAfterRestore stores the project's content as a new revision.
func (s *StoreService) reviseAfterRestore(tx store.Tx, tenant, id, reason string) error {
	h, version, err := records.Projects.Get(tx, tenant, id)
	if err != nil {
		return err
	}
	content, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(id, h.Revision))
	if err != nil {
		return err
	}
	c, err := s.projects.Revise(tx, tenant, h, version, content)
	if err != nil {
		return err
	}
	c.Reason = reason
	return s.AuditIn(tx, tenant, restorer, restoreAction, "project/"+id, c)
}

// tokensAfterRestore counts the valid tokens, and revokes them if requested.
func (s *StoreService) tokensAfterRestore(tx store.Tx, tenant, reason string, revoke bool) (good int, err error) {
	list, err := records.Tokens.List(tx, tenant, store.Query{})
	if err != nil {
		return 0, err
	}
	for _, listed := range list {
		if !s.Usable(&listed) {
			continue
		}
		good++
		if !revoke {
			continue
		}
		t, version, err := records.Tokens.Get(tx, tenant, listed.ID)
		if err != nil {
			return good, err
		}
		t.RevokedAt = s.Config.Now()
		if _, err := records.Tokens.Put(tx, tenant, t.ID, t, version); err != nil {
			return good, err
		}
		if err := s.AuditIn(tx, tenant, restorer, restoreAction, "token/"+t.ID, core.Change{After: "revoked", Reason: reason}); err != nil {
			return good, err
		}
	}
	return good, nil
}

// restoreRuns marks the unfinished runs with what they wait for.
func (s *StoreService) restoreRuns(tx store.Tx) (n int, err error) {
	at := s.Config.Now()
	unfinished, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{})
	if err != nil {
		return 0, err
	}
	for _, u := range unfinished {
		if err := restoreRun(tx, u.TenantID, u.RunID, at); err != nil {
			return n, fmt.Errorf("run %s: %w", u.RunID, err)
		}
		if u.WaitingFor != nil {
			u.WaitingFor.RestoredAt = at
		}
		id := records.UnfinishedID(u.TenantID, u.RunID)
		_, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
		if err != nil {
			return n, err
		}
		if _, err := records.UnfinishedRuns.Put(tx, store.Realm, id, &u, version); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func restoreRun(tx store.Tx, tenant, id string, at time.Time) error {
	r, version, err := records.Runs.Get(tx, tenant, id)
	if err != nil {
		return err
	}
	r.RestoredAt, r.UpdatedAt = at, at
	r.Revision++
	if r.WaitingFor != nil {
		r.WaitingFor.RestoredAt = at
	}
	if _, err := records.Runs.Put(tx, tenant, id, r, version); err != nil || r.ApprovalID == "" {
		return err
	}
	a, version, err := records.Approvals.Get(tx, tenant, r.ApprovalID)
	if err != nil {
		return err
	}
	a.RestoredAt = at
	_, err = records.Approvals.Put(tx, tenant, a.ID, a, version)
	return err
}

func endAllSessions(tx store.Tx) (int, error) {
	rows, err := tx.List(store.Sessions, store.Realm, store.Query{})
	for _, row := range rows {
		err = errors.Join(err, tx.Delete(store.Sessions, store.Realm, row.ID))
	}
	return len(rows), err
}
