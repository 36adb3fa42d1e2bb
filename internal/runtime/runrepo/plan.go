package runrepo

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// PlanKey names a plan that is remembered. It holds the digest too: a plan that was
// seen in a transaction which was not committed in the end can never stand for a
// later one of the same id.
type PlanKey struct{ Tenant, ID, Digest string }

// Plan reads the plan that a run was started from, with its project snapshots:
// mostly from memory, so that a step needn't read a plan of a megabyte. It must not
// be changed.
func (l *Repository) Plan(tx store.Tx, tenant, id, digest string) (*countersign.Plan, error) {
	key := PlanKey{tenant, id, digest}
	if p, ok := l.plans.Get(key); ok {
		return p, nil
	}
	row, err := tx.Get(store.Plans, tenant, id)
	if err != nil {
		return nil, err
	}
	var rec records.Plan
	if err := records.Decode(row, &rec); err != nil {
		return nil, err
	}
	p, size, err := withProjects(tx, tenant, rec.Plan)
	if err != nil {
		return nil, err
	}
	l.plans.PutWeighed(key, &p, len(row.Doc)+size)
	return &p, nil
}

// WithProjects adds the revisions of the projects that a plan was made from.
func WithProjects(tx store.Tx, tenant string, p countersign.Plan) (countersign.Plan, error) {
	p, _, err := withProjects(tx, tenant, p)
	return p, err
}

// withProjects also gives the size of their documents.
func withProjects(tx store.Tx, tenant string, p countersign.Plan) (_ countersign.Plan, size int, err error) {
	p.ProjectSnapshots = make([]countersign.Project, len(p.Projects))
	for i, r := range p.Projects {
		row, err := tx.Get(store.ProjectRevisions, tenant, records.RevisionID(r.ID, r.Revision))
		if err != nil {
			return p, 0, err
		}
		if err := records.Decode(row, &p.ProjectSnapshots[i]); err != nil {
			return p, 0, err
		}
		size += len(row.Doc)
	}
	return p, size, nil
}
