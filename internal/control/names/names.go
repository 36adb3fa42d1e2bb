// Package names knows what principals are called, and sets their names beside them in what is shown.
package names

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Cache has what principals are called in memory.
type Cache struct {
	*core.Core
	known *cache.Cache[principalName, knownName]
}

// New returns an empty memory.
func New(c *core.Core) *Cache {
	return &Cache{Core: c, known: cache.New[principalName, knownName](cachedNames)}
}

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

// NameOf is records.NameOf for a store that only this process writes to: a cached name is
// used while the store says that nothing that names anybody has changed since.
func (c *Cache) NameOf(ctx context.Context, tenant, principal string) (string, error) {
	key := principalName{tenant, principal}
	changes := c.Alone.Changes(store.Tokens, store.Agents, store.AgentRevisions) // taken before the read
	if k, ok := c.known.Get(key); ok && k.changes == changes {
		return k.name, nil
	}
	var name string
	err := c.Read(ctx, func(tx store.Tx) (err error) {
		name, err = nameIn(tx, tenant, principal)
		return err
	})
	if err == nil {
		c.known.Put(key, knownName{name, changes})
	}
	return name, err
}

// nameIn is records.NameOf for whom a name is shown: "" where it can't be read.
func nameIn(tx store.Tx, tenant, principal string) (string, error) {
	name, err := records.NameOf(tx, tenant, principal)
	if unreadable.Is(err) {
		return "", nil
	}
	return name, err
}

// ReadNames are what principals of a tenant are called, each read once in a transaction: a page
// of runs, or a run of 1,000 probes, has few of them.
type ReadNames struct {
	Tx     store.Tx
	tenant string
	known  map[string]string
}

// In is the names of a tenant's principals in a transaction.
func In(tx store.Tx, tenant string) ReadNames {
	return ReadNames{tx, tenant, map[string]string{}}
}

// Of is what a principal is called; "" for none.
func (n ReadNames) Of(principal string) (string, error) {
	name, known := n.known[principal]
	if known {
		return name, nil
	}
	name, err := nameIn(n.Tx, n.tenant, principal)
	if err == nil {
		n.known[principal] = name
	}
	return name, err
}

// Run adds the names of the run's requester and reviewers, and what it waits for now.
func (n ReadNames) Run(r *countersign.Run) (err error) {
	if r.RequestedByName, err = n.Of(r.RequestedBy); err != nil {
		return err
	}
	if err := n.Reviewers(r); err != nil {
		return err
	}
	if err := n.keepers(r); err != nil {
		return err
	}
	return showWaiting(n.Tx, n.tenant, r)
}

// Reviewers adds the names of those who probed and resolved steps of the run. It copies
// what it changes, since a run in memory is shared.
func (n ReadNames) Reviewers(r *countersign.Run) (err error) {
	if !slices.ContainsFunc(r.Steps, WasReviewed) {
		return nil
	}
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Reconciliation != nil {
			said := *s.Reconciliation
			if said.ByName, err = n.Of(said.By); err != nil {
				return err
			}
			s.Reconciliation = &said
		}
		s.Probes = slices.Clone(s.Probes)
		for p := range s.Probes {
			if s.Probes[p].ByName, err = n.Of(s.Probes[p].By); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepers adds the names of who holds the run and who redacted it. It copies what it changes.
func (n ReadNames) keepers(r *countersign.Run) (err error) {
	if r.Hold != nil {
		hold := *r.Hold
		if hold.ByName, err = n.Of(hold.By); err != nil {
			return err
		}
		r.Hold = &hold
	}
	if r.Redacted != nil {
		redacted := *r.Redacted
		if redacted.ByName, err = n.Of(redacted.By); err != nil {
			return err
		}
		r.Redacted = &redacted
	}
	return nil
}

// WasReviewed reports a step that somebody probed or resolved.
func WasReviewed(s countersign.StepRun) bool { return s.Reconciliation != nil || len(s.Probes) > 0 }

// showWaiting sets what a queued run waits for now: it was stored when it was queued.
func showWaiting(tx store.Tx, tenant string, r *countersign.Run) error {
	if !run.WaitsForSlot(r) {
		return nil
	}
	stopped, err := runrepo.Stopped(tx, tenant)
	r.WaitingFor = run.AsWaited(r.WaitingFor, stopped)
	return err
}
