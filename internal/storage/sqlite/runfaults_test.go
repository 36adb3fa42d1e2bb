package sqlite

import (
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// runTables are those that a run's start and steps are written to.
var runTables = []*store.Table{store.Runs, store.Steps, store.Approvals, store.Claims, store.Unfinished, store.Audit, store.AuditHeads}

// starts is what the start of a run commits: its claim, its header, a record a
// step, its place in the work list and its audit record.
func starts(run string) change {
	return together(
		puts(store.Claims, "key-"+run, run),
		puts(store.Runs, run, "READY", int64(1), "READY", "plan-1", "eu", "clerk"),
		puts(store.Steps, run+"/000", "PENDING", run, int64(0), ""),
		puts(store.Steps, run+"/001", "PENDING", run, int64(1), ""),
		puts(store.Unfinished, "acme/"+run, "active", "acme", "active", int64(1), int64(0)),
		recorded("runs.start", run),
	)
}

// waits is what a run commits that comes to the gate.
func waits(run string) change {
	return together(
		started(run),
		puts(store.Approvals, "apr-"+run, "PENDING", int64(2), "PENDING", run, "eu", "d", "t"),
		puts(store.Runs, run, "WAITING_APPROVAL", int64(1), "WAITING_APPROVAL", "plan-1", "eu", "clerk"),
		puts(store.Steps, run+"/000", "WAITING_APPROVAL", run, int64(0), ""),
		puts(store.Unfinished, "acme/"+run, "waiting", "acme", "waiting", int64(2), int64(9)),
		recorded("approval.request", run), recorded("run.wait", run),
	)
}

// moves is what a step commits: the outcome of one and the intent of the next.
func moves(run string) change {
	return together(
		started(run),
		puts(store.Runs, run, "RUNNING", int64(1), "RUNNING", "plan-1", "eu", "clerk"),
		puts(store.Steps, run+"/000", "COMPLETED", run, int64(0), ""),
		puts(store.Steps, run+"/001", "RUNNING", run, int64(1), ""),
		puts(store.Unfinished, "acme/"+run, "active", "acme", "active", int64(2), int64(0)),
		recorded("step.complete", run), recorded("step.send", run),
	)
}

// started fails for a run whose start has failed.
func started(run string) change {
	return func(tx store.Tx) error {
		_, err := tx.Get(store.Runs, "acme", run)
		return err
	}
}

// puts writes a document over whatever version there is.
func puts(t *store.Table, id, status string, keys ...any) change {
	return func(tx store.Tx) error {
		row, err := tx.Get(t, "acme", id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		doc := fmt.Appendf(nil, `{"id":%q,"status":%q,"fill":"%0300d"}`, id, status, row.Version+1)
		return tx.Put(t, "acme", store.Row{ID: id, Keys: keys, Doc: doc}, row.Version)
	}
}

func recorded(action, run string) change {
	return func(tx store.Tx) error {
		return audit.Append(tx, "acme", []countersign.AuditRecord{record(action, "run/"+run)})
	}
}

// runsAreWhole: a run has its steps, its claim, its place in the list and its
// records, each as far as the run has come.
func runsAreWhole(tx store.Tx) error {
	runs, err := tx.List(store.Runs, "acme", store.Query{})
	if err != nil {
		return err
	}
	for _, run := range runs {
		steps, err := tx.Count(store.Steps, "acme", store.Query{Where: []store.Filter{store.Equal("run", run.ID)}})
		if err != nil {
			return err
		}
		listed, err := tx.Get(store.Unfinished, "acme", "acme/"+run.ID)
		if err != nil {
			return err
		}
		records, err := tx.Count(store.Audit, "acme", store.Query{Where: []store.Filter{store.Equal("subject", "run/"+run.ID)}})
		if err != nil {
			return err
		}
		if steps != 2 || listed.Version != run.Version || int64(records) != 2*run.Version-1 {
			return fmt.Errorf("%s at version %d has %d steps, version %d in the list, %d records", run.ID, run.Version, steps, listed.Version, records)
		}
	}
	return nil
}
