// Package storetest checks the rules of package store: every engine passes the same tests. An engine's
// own test needs one line:
//
//	storetest.Run(t, func(t *testing.T) store.Store { return open(t) })
package storetest

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/internal/storage/store"
)

// Run tests an engine. open returns an empty store; Run closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { closeStore(t, s) })
			rule.check(t, s)
		})
	}
}

type rule struct {
	name  string
	check func(t *testing.T, s store.Store)
}

var rules = []rule{
	{"GetMissingIsNotFound", getMissingIsNotFound},
	{"GetReturnsWhatWasPut", getReturnsWhatWasPut},
	{"RowsReturnedAreTheCallers", rowsReturnedAreTheCallers},
	{"PutZeroOnExistingIsConflict", putZeroOnExistingIsConflict},
	{"PutStaleVersionIsConflict", putStaleVersionIsConflict},
	{"PutOnMissingIsConflict", putOnMissingIsConflict},
	{"ConflictWritesNothingAndTheTransactionGoesOn", conflictWritesNothing},
	{"PutIgnoresTheRowsVersion", putIgnoresTheRowsVersion},
	{"PutChangesColumns", putChangesColumns},
	{"PutOfWrongKeysIsRefused", putOfWrongKeysIsRefused},
	{"DeleteRemovesAndRepeatsQuietly", deleteRemovesAndRepeatsQuietly},
	{"DocumentsKeepEveryByte", documentsKeepEveryByte},
	{"TenantsAreApart", tenantsAreApart},

	{"ListWithoutOrderIsById", listWithoutOrderIsByID},
	{"ListBreaksTiesByIdInTheLastDirection", listBreaksTies},
	{"ListFiltersByEveryOperator", listFilters},
	{"ListPagesCoverEverythingOnce", listPagesCoverEverythingOnce},
	{"RowsWithinAnotherAreFoundByIt", rowsWithinAnotherAreFoundByIt},
	{"EachHandsOverWhatAListHas", eachHandsOverWhatAListHas},
	{"ListOfWrongQueryIsRefused", listOfWrongQueryIsRefused},
	{"CountIgnoresLimitAndOffset", countIgnoresLimitAndOffset},
	{"DistinctIsSortedAndWithinTheTenant", distinctIsSorted},

	{"UpdateSeesItsOwnWrites", updateSeesItsOwnWrites},
	{"FailedUpdateLeavesNothing", failedUpdateLeavesNothing},
	{"PanicInUpdateReachesTheCallerAndLeavesNothing", panicInUpdate},
	{"GoexitInUpdateLeavesNothing", goexitInUpdate},
	{"WriteInViewIsAnError", writeInViewIsAnError},
	{"ViewReturnsTheFunctionsError", viewReturnsTheFunctionsError},
	{"TxIsOverAfterItsFunction", txIsOverAfterItsFunction},
	{"CancelledContextRunsNothing", cancelledContextRunsNothing},
	{"ContextBoundsTheWaitOnly", contextBoundsTheWaitOnly},
	{"ClosedStoreIsUnavailable", closedStoreIsUnavailable},

	{"OneOfManyPutsWins", oneOfManyPutsWins},
	{"NoIncrementIsLost", noIncrementIsLost},
	{"ViewIsOneSnapshot", viewIsOneSnapshot},
	{"ViewIsNotBlockedByUpdate", viewIsNotBlockedByUpdate},
	{"FailuresAmongConcurrentUpdatesTouchNoOther", failuresTouchNoOther},
	{"ConflictInAGuardedTableTouchesNoOther", guardedConflictTouchesNoOther},
	{"ANewRowThatIsThereTouchesNoOther", aNewRowThatIsThereTouchesNoOther},
	{"ABareListHasTheSameRows", aBareListHasTheSameRows},
	{"ASeenRowThatHasChangedTouchesNoOther", aSeenRowThatHasChangedTouchesNoOther},
	{"ListSeesWhatItsFunctionWrote", listSeesWhatItsFunctionWrote},

	{"LoadKeepsTheVersion", loadKeepsTheVersion},
	{"LoadOnExistingIsConflict", loadOnExistingIsConflict},
	{"LoadOfWrongRowIsRefused", loadOfWrongRowIsRefused},
	{"TenantsAreSortedAndOfTheTable", tenantsAreSortedAndOfTheTable},

	{"AgreesWithMemory", agreesWithMemory},
	{"LogAgreesWithMemory", logAgreesWithMemory},
}

const tenant = "acme"

var errDeliberate = errors.New("deliberate failure")

// run makes a row of store.Runs, the table of most tests. The run's agent has the name of its scope.
func run(id string, created int64, status, plan, scope string) store.Row {
	return store.Row{ID: id, Keys: []any{created, status, plan, scope, scope + " clerk"}, Doc: []byte(`{"id":` + strconv.Quote(id) + `}`)}
}

func simple(id string) store.Row { return run(id, 1, "READY", "plan-1", "eu") }

func update(t *testing.T, s store.Store, fn func(store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func view(t *testing.T, s store.Store, fn func(store.Tx) error) {
	t.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		t.Fatalf("View: %v", err)
	}
}

func put(t *testing.T, s store.Store, rows ...store.Row) {
	t.Helper()
	update(t, s, func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.Put(store.Runs, tenant, row, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func get(t *testing.T, s store.Store, id string) (row store.Row, err error) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		row, err = tx.Get(store.Runs, tenant, id)
		return nil
	})
	return row, err
}

func list(t *testing.T, s store.Store, q store.Query) (rows []store.Row) {
	t.Helper()
	view(t, s, func(tx store.Tx) (err error) {
		rows, err = tx.List(store.Runs, tenant, q)
		return err
	})
	return rows
}

func ids(rows []store.Row) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = row.ID
	}
	return out
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("got + instead of want -:\n%s", diff)
	}
}

func closeStore(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}
