package control

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// principalName is the key of a name in memory, and knownName the name with the store's
// count of changes before it was read.
type (
	principalName struct{ tenant, principal string }
	knownName     struct {
		name    string
		changes int64
	}
)

// cachedNames is how many names of principals are cached.
const cachedNames = 1024

// nameOf is records.NameOf for a store that only this process writes to: a cached name is
// used while the store says that nothing that names anybody has changed since.
func (s *Service) nameOf(ctx context.Context, tenant, principal string) (string, error) {
	key := principalName{tenant, principal}
	changes := s.alone.Changes(store.Tokens, store.Agents, store.AgentRevisions) // taken before the read
	if k, ok := s.names.Get(key); ok && k.changes == changes {
		return k.name, nil
	}
	var name string
	err := s.read(ctx, func(tx store.Tx) (err error) {
		name, err = records.NameOf(tx, tenant, principal)
		return err
	})
	if err == nil {
		s.names.Put(key, knownName{name, changes})
	}
	return name, err
}

// nameReviewers adds the names of those who probed and resolved steps of the run. It copies
// what it changes, since a run in memory is shared.
func nameReviewers(tx store.Tx, tenant string, r *countersign.Run) (err error) {
	if !slices.ContainsFunc(r.Steps, wasReviewed) {
		return nil
	}
	names := map[string]string{} // a run may have 1,000 probes, of few people
	nameOf := func(principal string) string {
		name, known := names[principal]
		if !known && err == nil {
			name, err = records.NameOf(tx, tenant, principal)
			names[principal] = name
		}
		return name
	}
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Reconciliation != nil {
			said := *s.Reconciliation
			said.ByName, s.Reconciliation = nameOf(said.By), &said
		}
		s.Probes = slices.Clone(s.Probes)
		for n := range s.Probes {
			s.Probes[n].ByName = nameOf(s.Probes[n].By)
		}
	}
	return err
}

func wasReviewed(s countersign.StepRun) bool { return s.Reconciliation != nil || len(s.Probes) > 0 }
