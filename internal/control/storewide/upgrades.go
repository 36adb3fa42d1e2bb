package storewide

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/rules/upgrade"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// UpgradeNotice is a notice about what a tenant has.
type UpgradeNotice struct {
	TenantID string
	upgrade.Notice
}

// UpgradeNotices lists, over all tenants, what this release means otherwise than the one
// before. What can't be read is left out: it stops nothing else.
func UpgradeNotices(tx store.Tx) (found []UpgradeNotice, err error) {
	tenants, err := unreadable.List(nil, tx, "tenant", records.Tenants, store.Realm, store.Query{})
	if err != nil {
		return nil, err
	}
	since, _, err := records.CredentialMarks.Get(tx, store.Realm, records.UpgradeNoticedID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	saved := func(at time.Time) bool { return since != nil && at.After(since.At) } // by who knew this release
	for _, t := range tenants {
		projects, err := unreadable.List(nil, tx, "project", records.Projects, t.ID, store.Query{})
		if err != nil {
			return nil, err
		}
		for _, head := range projects {
			if p, _, err := records.ProjectRevisions.Get(tx, t.ID, records.RevisionID(head.ID, head.Revision)); err == nil && !head.Retired && !saved(head.UpdatedAt) {
				found = append(found, noticed(t.ID, upgrade.OfProject(p))...)
			}
		}
		teams, err := unreadable.List(nil, tx, "team", records.Teams, t.ID, store.Query{})
		if err != nil {
			return nil, err
		}
		for _, head := range teams {
			if team, _, err := records.TeamRevisions.Get(tx, t.ID, records.RevisionID(head.ID, head.Revision)); err == nil {
				found = append(found, noticed(t.ID, upgrade.OfTeam(team))...)
			}
		}
	}
	return found, nil
}

func noticed(tenant string, notices []upgrade.Notice) (out []UpgradeNotice) {
	for _, n := range notices {
		out = append(out, UpgradeNotice{tenant, n})
	}
	return out
}

// NoticeUpgrade logs, once for each store, what this release means otherwise than the one
// before; doctor and the pages of projects say it as long as it is so.
func (s *StoreService) NoticeUpgrade(ctx context.Context) error {
	var found []UpgradeNotice
	err := s.Store.Update(ctx, func(tx store.Tx) (err error) {
		found = nil
		_, _, err = records.CredentialMarks.Get(tx, store.Realm, records.UpgradeNoticedID)
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if found, err = UpgradeNotices(tx); err != nil {
			return err
		}
		_, err = records.CredentialMarks.Put(tx, store.Realm, records.UpgradeNoticedID, &records.CredentialsBound{At: s.Config.Now()}, 0)
		return err
	})
	for _, n := range found {
		s.Log.Warn("this release means it otherwise than the one before", "tenant", n.TenantID, n.Kind, n.ID, "where", n.Where, "what", n.Text)
	}
	return err
}
