package control

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/search"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What runs are found by is written behind the audit log, where each change of a run has
// its record in the same commit: the commit of a step does nothing for it, and a crash
// loses nothing. Whoever indexes rests fifty times as long as it worked, so that all of it
// costs less than 2 % of a processor and of the writer's time, however many steps are
// taken; under a load beyond that the index is behind, and catches up later.
const (
	indexRest    = 50
	indexPause   = 2 * time.Second // once all is indexed
	indexRecords = 64              // audit records in one commit
)

// indexed are the actions after which a run may be found by more.
var indexed = []string{"approval.request", "run.cancel", "run.complete", "run.fail", "run.recovery_required", "runs.probe", "runs.start", "steps.late"}

// IndexRuns indexes runs in the background, from a while after the start until the context
// ends.
func (s *Service) IndexRuns(ctx context.Context, after time.Duration) {
	s.background.Go(func() {
		if !periodic.Pause(ctx, after) {
			return
		}
		for {
			began := time.Now()
			more, err := s.indexOnce(ctx)
			if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrConflict) { // another replica was faster
				s.log.ErrorContext(ctx, "runs were not indexed for search", "error", err)
			}
			rest := indexRest * time.Since(began)
			if !more || err != nil {
				rest = max(rest, indexPause)
			}
			if !periodic.Pause(ctx, rest) {
				return
			}
		}
	})
}

// CatchUp indexes all runs now.
func (s *Service) CatchUp(ctx context.Context) error {
	for {
		if more, err := s.indexOnce(ctx); err != nil || !more {
			return err
		}
	}
}

// indexOnce goes on in each tenant's log by one commit; more says that it isn't at the end
// of each.
func (s *Service) indexOnce(ctx context.Context) (more bool, err error) {
	var tenants []countersign.Tenant
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		tenants, err = records.Tenants.List(tx, store.Realm, store.Query{})
		return err
	})
	for i := 0; err == nil && i < len(tenants); i++ {
		var left bool
		left, err = s.indexTenant(ctx, tenants[i].ID)
		more = more || left
	}
	return more, err
}

// indexing is one commit of the index.
type indexing struct {
	tenant    string
	from, to  int64
	version   int64
	size      int64
	terms     []string
	processed map[string]bool // runs
}

func (s *Service) indexTenant(ctx context.Context, tenant string) (more bool, err error) {
	var x *indexing
	err = s.store.View(ctx, func(tx store.Tx) error {
		x = &indexing{tenant: tenant, processed: map[string]bool{}}
		return s.gatherTerms(tx, x)
	})
	if err != nil || x.to == x.from {
		return false, err
	}
	if len(x.terms) == 0 && x.to == x.size && x.to-x.from < indexRecords*indexRest {
		return false, nil // nothing to keep: what is looked at again is little
	}
	err = s.store.Update(ctx, x.write)
	return x.to < x.size, err
}

// gatherTerms reads what is new in the log, and what its runs are found by.
func (s *Service) gatherTerms(tx store.Tx, x *indexing) error {
	at, version, err := records.Indexing.Get(tx, x.tenant, records.IndexedID(x.tenant))
	if err == nil {
		x.from, x.version = at.Seq, version
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if x.size, err = audit.Size(tx, x.tenant); err != nil || x.size <= x.from {
		x.from = min(x.from, x.size) // the store was put back
		x.to = x.from
		return err
	}
	list, err := audit.Following(tx, x.tenant, indexed, x.from, x.size, indexRecords)
	if err != nil {
		return err
	}
	x.to = x.size
	if len(list) == indexRecords {
		x.to = list[len(list)-1].Seq + 1
	}
	for _, rec := range list {
		id, of := strings.CutPrefix(rec.Subject, "run/")
		if !of || rec.Outcome != countersign.AuditDone || x.processed[id] {
			continue
		}
		x.processed[id] = true
		if err := s.termsOf(tx, x, id); err != nil {
			return err
		}
	}
	return nil
}

// termsOf adds what a run is found by. What a VIEWER doesn't see of it is sensitive.
func (s *Service) termsOf(tx store.Tx, x *indexing, id string) error {
	anybody := Actor{Principal: access.Principal{Tenant: x.tenant, Roles: []countersign.Role{countersign.RoleViewer}}}
	whole, err := s.runWithSteps(tx, Actor{Principal: access.Principal{Tenant: x.tenant}}, id)
	if code := countersign.ErrorCode(err); code == countersign.CodeNotFound || code == countersign.CodeStateConflict {
		return nil // it is archived
	}
	if err != nil {
		return err
	}
	shown := whole
	if err := s.maskFor(tx, anybody, &shown); err != nil {
		return err
	}
	add := func(kind, by string) {
		x.terms = append(x.terms, records.TermID(kind, by, id, whole.CreatedAt))
	}
	open, words := search.Terms(&shown)
	for t := range words {
		open[t] = true
	}
	for t := range open {
		add(records.OpenTerm, t)
	}
	all, _ := search.Terms(&whole)
	for t := range all {
		if !open[t] {
			add(records.SensitiveTerm, records.SensitiveBy(t))
		}
	}
	for _, c := range search.Capabilities(&whole) {
		add(records.CapabilityTerm, c)
	}
	if code := search.Reason(&whole); code != "" {
		add(records.ReasonTerm, code)
	}
	return nil
}

// write keeps the terms that aren't there yet, and how far the log was read.
func (x *indexing) write(tx store.Tx) error {
	for _, id := range x.terms {
		if _, err := tx.Get(store.Terms, x.tenant, id); err == nil {
			continue
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if _, err := records.Terms.Put(tx, x.tenant, id, &records.Term{}, 0); err != nil {
			return err
		}
	}
	_, err := records.Indexing.Put(tx, x.tenant, records.IndexedID(x.tenant), &records.Indexed{Seq: x.to}, x.version)
	return err
}
