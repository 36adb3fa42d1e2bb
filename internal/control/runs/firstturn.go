package runs

import (
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// firstTurn is the first turn of a run as a part of the transaction that makes it: its intent, the
// approval that it asks for, or its end is stored in the same commit. A first turn that fails is none
// of the start's: then the run is made alone, and the engine tries its turn again.
type firstTurn struct {
	driver Driver
	begun  runrepo.Begun // nil: the run is made alone, or isn't made
	failed bool          // in the last try
	alone  bool
}

// in begins a run that was just made.
func (f *firstTurn) in(tx store.Tx, made *runrepo.LoadedRun) (err error) {
	if f.alone {
		return nil
	}
	f.begun, err = f.driver.Begin(tx, made)
	f.failed = err != nil
	return err
}

// orAlone makes the transaction, and once more without the first turn if that is what it failed at.
func (f *firstTurn) orAlone(transaction func() error) error {
	err := transaction()
	if err == nil || !f.failed {
		return err
	}
	f.drop()
	f.alone = true
	return transaction()
}

// drop forgets what a try has begun that isn't committed.
func (f *firstTurn) drop() {
	if f.begun != nil {
		f.begun.Drop()
	}
	f.begun, f.failed = nil, false
}

// goOn carries the committed run on; false if it was made alone.
func (f *firstTurn) goOn() bool {
	begun := f.begun
	if begun == nil {
		return false
	}
	f.begun = nil
	begun.Go()
	return true
}
