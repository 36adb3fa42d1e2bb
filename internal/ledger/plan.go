package ledger

import (
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// planCache keeps the latest plans in memory: they are immutable, so what is
// found is right, and a step needn't read a plan of a megabyte.
type planCache struct {
	mu    sync.Mutex
	plans map[planKey]*countersign.Plan
}

// planKey holds the digest too: a plan that was seen in a transaction which was
// not committed in the end can never stand for a later one of the same id.
type planKey struct{ tenant, id, digest string }

// cachedPlans bounds the memory; plans are dropped in no particular order.
const cachedPlans = 64

func (c *planCache) get(k planKey) *countersign.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans[k]
}

func (c *planCache) put(k planKey, p *countersign.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.plans {
		if len(c.plans) < cachedPlans {
			break
		}
		delete(c.plans, old)
	}
	if c.plans == nil {
		c.plans = map[planKey]*countersign.Plan{}
	}
	c.plans[k] = p
}

// Plan reads the plan that a run was started from, with its project snapshots.
// It must not be changed.
func (l *Ledger) Plan(tx store.Tx, tenant, id, digest string) (*countersign.Plan, error) {
	key := planKey{tenant, id, digest}
	if p := l.plans.get(key); p != nil {
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
	l.plans.put(key, &p)
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
