package runrepo

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Turns that are tried are counted in a run's entry of the list of unfinished runs, which is
// small and says nothing of the run: a run that can't be loaded or judged can be counted. Its
// entry is written anew, without the count, with each change of what the run waits for.

// Tries counts a turn that is about to be tried.
func (l *Repository) Tries(tx store.Tx, ref Ref) error { return count(tx, ref, 1) }

// Succeeded takes a turn back that Tries has counted: it is being committed.
func (l *Repository) Succeeded(tx store.Tx, ref Ref) error { return count(tx, ref, -1) }

// Forgive forgets all turns of a run that failed before.
func (l *Repository) Forgive(tx store.Tx, ref Ref) error { return count(tx, ref, -maxTries) }

// maxTries is more than anybody counts.
const maxTries = 1 << 20

func count(tx store.Tx, ref Ref, by int) error {
	id := records.UnfinishedID(ref.Tenant, ref.RunID)
	u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	tries := u.Tries
	if u.Tries = max(0, tries+by); u.Tries == tries {
		return nil
	}
	_, err = records.UnfinishedRuns.Put(tx, store.Realm, id, u, version)
	return err
}

// Tried is how many turns of a run have been tried in a row and not committed.
func Tried(tx store.Tx, ref Ref) (int, error) {
	u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return u.Tries, nil
}
