// Package indexing writes what runs are found by, behind the audit log: each change of a run
// has its record there in the same commit, so the commit of a step does nothing for the
// index, and a crash loses nothing.
package indexing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// The indexer rests fifty times as long as it worked, so that all of it costs less than 2 %
// of a processor and of the writer's time, however many steps are taken; under a load
// beyond that the index is behind, and catches up later. It rests after each tenant's commit,
// which is bounded: so a tenant whose runs are large waits for itself.
const (
	rest   = 50
	pause  = 2 * time.Second // once all is indexed
	atOnce = 64              // audit records in one commit
	most   = 1 << 20         // bytes of runs that one commit reads; the run that reaches them is its last
)

// indexed are the actions after which a run may be found by more.
var indexed = []string{"approval.request", "run.cancel", "run.complete", "run.fail", "run.recovery_required", "runs.probe", "runs.start", "steps.late", "steps.probe_answered"}

// Runs says what a run is found by.
type Runs interface {
	// SearchTerms are the ids of a run's terms, none for a run that is archived, and how many
	// bytes were read for them.
	SearchTerms(tx store.Tx, tenant, runID string) (terms []string, size int, err error)
}

// Indexer indexes the runs of all tenants between Start and Stop.
type Indexer struct {
	store store.Store
	runs  Runs
	after time.Duration
	log   *slog.Logger
	aside *unreadable.Records
	task  *periodic.Task
}

// New makes an indexer that begins a while after its start, which it leaves to others.
func New(s store.Store, runs Runs, after time.Duration, log *slog.Logger, aside *unreadable.Records) *Indexer {
	return &Indexer{store: s, runs: runs, after: after, log: log, aside: aside}
}

// Start indexes in the background until Stop.
func (i *Indexer) Start() {
	i.task = periodic.Start(pause, func(ctx context.Context) {
		if periodic.Pause(ctx, i.after) {
			i.after = 0
			i.catchUp(ctx)
		}
	})
}

// Stop waits for the commit that is under way.
func (i *Indexer) Stop() { i.task.Stop() }

// catchUp indexes until all is indexed. Tenants take turns.
func (i *Indexer) catchUp(ctx context.Context) {
	for more := true; more; {
		more = false
		err := i.aside.EachTenant(ctx, i.store, "search index", func(tenant string) error {
			began := time.Now()
			left, err := i.indexTenant(ctx, tenant)
			periodic.Pause(ctx, rest*time.Since(began))
			if errors.Is(err, store.ErrConflict) { // another replica was faster
				return nil
			}
			more = more || left
			return err
		})
		if err != nil && ctx.Err() == nil {
			i.log.ErrorContext(ctx, "runs were not indexed for search", "error", err)
		}
		more = more && err == nil && ctx.Err() == nil
	}
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

func (i *Indexer) indexTenant(ctx context.Context, tenant string) (more bool, err error) {
	var x *indexing
	err = i.store.View(ctx, func(tx store.Tx) error {
		x = &indexing{tenant: tenant, processed: map[string]bool{}}
		return i.gatherTerms(tx, x)
	})
	if err != nil || x.to == x.from {
		return false, err
	}
	if len(x.terms) == 0 && x.to == x.size && x.to-x.from < atOnce*rest {
		return false, nil // nothing to keep: what is looked at again is little
	}
	err = i.store.Update(ctx, x.write)
	return x.to < x.size, err
}

// gatherTerms reads what is new in the log, and what its runs are found by.
func (i *Indexer) gatherTerms(tx store.Tx, x *indexing) error {
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
	list, err := audit.FollowingReadable(tx, x.tenant, indexed, x.from, x.size, atOnce, func(seq int64, err error) error {
		return i.aside.Pass(unreadable.Record{Tenant: x.tenant, Kind: "audit record", ID: strconv.FormatInt(seq, 10)}, err)
	})
	if err != nil {
		return err
	}
	x.to = x.size
	if len(list) == atOnce {
		x.to = list[len(list)-1].Seq + 1
	}
	read := 0
	for _, rec := range list {
		id, of := strings.CutPrefix(rec.Subject, "run/")
		if !of || rec.Outcome != countersign.AuditDone || x.processed[id] {
			continue
		}
		x.processed[id] = true
		terms, size, err := i.runs.SearchTerms(tx, x.tenant, id)
		if err := i.aside.Pass(unreadable.Record{Tenant: x.tenant, Kind: "run", ID: id}, err); err != nil {
			return err
		}
		x.terms, read = append(x.terms, terms...), read+size
		if read >= most {
			x.to = rec.Seq + 1
			break
		}
	}
	return x.leaveOutKnown(tx)
}

// leaveOutKnown leaves out the terms that are there. Asked for one by one in the transaction
// that writes, they would keep all other writers waiting.
func (i *indexing) leaveOutKnown(tx store.Tx) error {
	known := map[string]bool{}
	for ids := range slices.Chunk(i.terms, termsAtOnce) {
		in := store.Filter{Column: "id", Op: store.In}
		for _, id := range ids {
			in.Values = append(in.Values, id)
		}
		rows, err := tx.List(store.Terms, i.tenant, store.Query{Where: []store.Filter{in}})
		if err != nil {
			return err
		}
		for _, row := range rows {
			known[row.ID] = true
		}
	}
	i.terms = slices.DeleteFunc(i.terms, func(id string) bool {
		was := known[id]
		known[id] = true // a term may be listed twice
		return was
	})
	return nil
}

// termsAtOnce bounds the parameters of a query.
const termsAtOnce = 128

// write keeps the terms that aren't there yet, and how far the log was read. Who has indexed
// meanwhile has changed that, and this fails.
func (i *indexing) write(tx store.Tx) error {
	for _, id := range i.terms {
		if _, err := records.Terms.Add(tx, i.tenant, id, &records.Term{}); err != nil {
			return err
		}
	}
	_, err := records.Indexing.Put(tx, i.tenant, records.IndexedID(i.tenant), &records.Indexed{Seq: i.to}, i.version)
	return err
}
