package leveled_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/leveled"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// jammed is an engine that can't be closed, and looks at what is there when it is asked to.
type jammed struct{ asked func() }

var errJammed = errors.New("it can't be closed")

func (j jammed) Raised() bool { return false }

func (j jammed) Raise(context.Context) error {
	j.asked()
	return errJammed
}

// TestNoRecordThatEarlierReleasesDoNotKnowIsInAStoreThatIsOpenToThem: not while it is being
// closed, and not where that fails, as it does where a process dies.
func TestNoRecordThatEarlierReleasesDoNotKnowIsInAStoreThatIsOpenToThem(t *testing.T) {
	below := memory.New()
	there := func() bool {
		err := below.View(t.Context(), func(tx store.Tx) error {
			_, _, err := records.Plans.Get(tx, "acme", "plan-1")
			return err
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	asked := 0
	s := leveled.New(below, jammed{func() {
		if asked++; there() {
			t.Error("while the store is being closed the record is there")
		}
	}}, slog.New(slog.DiscardHandler))
	runs := 0
	if err := put(s, "plan-1", countersign.Gate, &runs); !errors.Is(err, errJammed) || asked != 1 || there() {
		t.Errorf("%v, asked %d times, there: %v", err, asked, there())
	}
}
