package ledger

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// PlanKey names a plan that is remembered. It holds the digest too: a plan that was
// seen in a transaction which was not committed in the end can never stand for a
// later one of the same id.
type PlanKey struct{ Tenant, ID, Digest string }

// Plan reads the plan that a run was started from, with its project snapshots:
// mostly from memory, so that a step needn't read a plan of a megabyte. It must not
// be changed.
func (l *Ledger) Plan(tx store.Tx, tenant, id, digest string) (*countersign.Plan, error) {
	key := PlanKey{tenant, id, digest}
	if p, ok := l.plans.Get(key); ok {
		return p, nil
	}
	rec, _, err := records.Plans.Get(tx, tenant, id)
	if err != nil {
		return nil, err
	}
	p, err := WithProjects(tx, tenant, rec.Plan)
	if err != nil {
		return nil, err
	}
	l.plans.Put(key, &p)
	return &p, nil
}

// WithProjects adds the revisions of the projects that a plan was made from.
func WithProjects(tx store.Tx, tenant string, p countersign.Plan) (countersign.Plan, error) {
	p.ProjectSnapshots = []countersign.Project{}
	for _, r := range p.Projects {
		snapshot, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(r.ID, r.Revision))
		if err != nil {
			return p, err
		}
		p.ProjectSnapshots = append(p.ProjectSnapshots, *snapshot)
	}
	return p, nil
}
