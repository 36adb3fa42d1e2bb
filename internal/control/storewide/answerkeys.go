package storewide

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// SharedAnswerKey is an answer key that projects of different addresses have. One answer key
// belongs to one memory: two that sign with the same key could each speak for the other's calls.
type SharedAnswerKey struct {
	Key      string
	Projects []AnsweringProject // in the order of their addresses, tenants and ids
}

// AnsweringProject is a project whose receiver signs.
type AnsweringProject struct{ TenantID, ID, BaseURL string }

// SharedAnswerKeys lists them over all tenants, in the order of the keys.
func SharedAnswerKeys(tx store.Tx) (found []SharedAnswerKey, err error) {
	tenants, err := unreadable.List(nil, tx, "tenant", records.Tenants, store.Realm, store.Query{})
	if err != nil {
		return nil, err
	}
	by := map[string][]AnsweringProject{}
	for _, t := range tenants {
		projects, err := unreadable.List(nil, tx, "project", records.Projects, t.ID, store.Query{})
		if err != nil {
			return nil, err
		}
		for _, head := range projects {
			if len(head.AnswerKeys) == 0 || head.Retired {
				continue
			}
			p, _, err := records.ProjectRevisions.Get(tx, t.ID, records.RevisionID(head.ID, head.Revision))
			if err != nil {
				continue // one that can't be read stops nothing else
			}
			for _, key := range head.AnswerKeys {
				by[key] = append(by[key], AnsweringProject{t.ID, head.ID, p.BaseURL})
			}
		}
	}
	for key, projects := range by {
		other := func(p AnsweringProject) bool { return p.BaseURL != projects[0].BaseURL }
		if !slices.ContainsFunc(projects, other) {
			continue
		}
		slices.SortFunc(projects, func(a, b AnsweringProject) int {
			return cmp.Or(cmp.Compare(a.BaseURL, b.BaseURL), cmp.Compare(a.TenantID, b.TenantID), cmp.Compare(a.ID, b.ID))
		})
		found = append(found, SharedAnswerKey{key, projects})
	}
	slices.SortFunc(found, func(a, b SharedAnswerKey) int { return cmp.Compare(a.Key, b.Key) })
	return found, nil
}
