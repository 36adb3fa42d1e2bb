package witnessing_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestARewoundLogIsRecordedOnce, however often and by however many processes it is seen, until the
// witness cosigns again: what it says then is recorded anew.
func TestARewoundLogIsRecordedOnce(t *testing.T) {
	b := newBed(t)
	one := b.witness(t.TempDir(), "one.example")
	lies := func(rw http.ResponseWriter, _ *http.Request, _ string) bool {
		rw.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(rw, "999\n")
		return true
	}
	recorded := func() int64 {
		t.Helper()
		var n int64
		err := b.store.View(context.Background(), func(tx store.Tx) error {
			found, err := audit.List(tx, "acme", audit.Filter{Action: witnessing.RewoundAction, Subject: "witness/one.example"}, 10, 0)
			n = int64(len(found.Items))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b.grow(5, "a")
	one.way = lies
	s := b.process(one)
	for range 3 {
		b.round(s, one)
		b.now = b.now.Add(time.Minute)
	}
	b.round(b.process(one), one)
	if got := b.rewound(); len(got) != 1 || recorded() != 1 {
		t.Errorf("%v, recorded %d times", got, recorded())
	}
	one.way = nil
	b.now = b.now.Add(time.Minute)
	b.round(s, one)
	if got := b.rewound(); len(got) != 0 {
		t.Errorf("it cosigns, and %v", got)
	}
	one.way = lies
	b.grow(1, "a")
	b.now = b.now.Add(time.Minute)
	b.round(s, one)
	if got := b.rewound(); len(got) != 1 || recorded() != 2 {
		t.Errorf("%v, recorded %d times", got, recorded())
	}
}
