package runrepo

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Bounds of the plans in memory: more than are usually started at a time, and not more
// bytes of documents than this. Without them each step would read a plan of a mebibyte.
const (
	rememberedPlans     = 64
	rememberedPlanBytes = 16 << 20
)

type planKey struct{ tenant, id string }

// knownPlan is a plan in memory, with as much of what it refers to as somebody has asked
// for. It is never changed: what more is read goes into a new one.
type knownPlan struct {
	stamp  cache.Stamp // of the plan's document
	record *records.Plan
	plan   *countersign.Plan // with its project snapshots; nil: not asked for yet
	whole  *countersign.Plan // with its models too; nil: not asked for yet
	bytes  int               // of all documents that were read
}

// of reports the plan that was started with this digest, and not one of the same id that
// was seen in a transaction which was never committed.
func (k knownPlan) of(digest string) bool { return k.plan != nil && k.plan.PlanDigest == digest }

// ReadPlan gives a plan without its snapshots. It must not be changed.
func (l *Repository) ReadPlan(tx store.Tx, tenant, id string) (*records.Plan, error) {
	k, err := l.storedPlan(tx, tenant, id)
	return k.record, err
}

// KnownPlan is ReadPlan where the plan is in memory, else nil. It can't be out of date: a
// plan that somebody created never changes and is never deleted, and no transaction reads
// one that it has made itself. Those made for a single run are deleted with it, so none of
// them is known.
func (l *Repository) KnownPlan(tenant, id string) *records.Plan {
	if k, ok := l.plans.Get(planKey{tenant, id}); ok && !k.record.Synthetic {
		return k.record
	}
	return nil
}

// Plan gives the plan that a run was started from, with its project snapshots, mostly
// from memory. It must not be changed.
func (l *Repository) Plan(tx store.Tx, tenant, id, digest string) (*countersign.Plan, error) {
	k, err := l.startedPlan(tx, tenant, id, digest)
	return k.plan, err
}

// WholePlan is Plan with what addModels adds, which also says how many bytes it read.
func (l *Repository) WholePlan(tx store.Tx, tenant, id, digest string, addModels func(countersign.Plan) (countersign.Plan, int, error)) (*countersign.Plan, error) {
	k, err := l.startedPlan(tx, tenant, id, digest)
	if err != nil || k.whole != nil {
		return k.whole, err
	}
	whole, size, err := addModels(*k.plan)
	if err != nil {
		return nil, err
	}
	k.whole, k.bytes = &whole, k.bytes+size
	l.plans.PutWeighed(planKey{tenant, id}, k, k.bytes)
	return k.whole, nil
}

// KnownWholePlan is WholePlan where that is in memory, else nil.
func (l *Repository) KnownWholePlan(tenant, id, digest string) *countersign.Plan {
	if k, ok := l.plans.Get(planKey{tenant, id}); ok && k.of(digest) {
		return k.whole
	}
	return nil
}

func (l *Repository) startedPlan(tx store.Tx, tenant, id, digest string) (knownPlan, error) {
	if k, ok := l.plans.Get(planKey{tenant, id}); ok && k.of(digest) {
		return k, nil
	}
	k, err := l.storedPlan(tx, tenant, id)
	if err != nil || k.plan != nil {
		return k, err
	}
	p, size, err := withProjects(tx, tenant, k.record.Plan)
	if err != nil {
		return knownPlan{}, err
	}
	k.plan, k.bytes = &p, k.bytes+size
	l.plans.PutWeighed(planKey{tenant, id}, k, k.bytes)
	return k, nil
}

// storedPlan reads a plan's document, and decodes it unless it is the one in memory.
func (l *Repository) storedPlan(tx store.Tx, tenant, id string) (knownPlan, error) {
	row, err := tx.Get(store.Plans, tenant, id)
	if err != nil {
		return knownPlan{}, err
	}
	key, at := planKey{tenant, id}, cache.StampOf(tenant, id, row.Version, row.Doc)
	if k, ok := l.plans.Get(key); ok && k.stamp == at {
		return k, nil
	}
	k := knownPlan{stamp: at, record: new(records.Plan), bytes: len(row.Doc)}
	if err := records.Decode(row, k.record); err != nil {
		return knownPlan{}, err
	}
	l.plans.PutWeighed(key, k, k.bytes)
	return k, nil
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
