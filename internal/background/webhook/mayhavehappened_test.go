package webhook_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestWhoIsToldThatARunFailedIsToldThatItMayHaveTakenEffect: the notification of a failed
// run says whether a side effect may have happened.
func TestWhoIsToldThatARunFailedIsToldThatItMayHaveTakenEffect(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "sure", "unsure")
	d.write(func(tx store.Tx) error {
		rec, version, err := records.Runs.Get(tx, "acme", "unsure")
		if err != nil {
			return err
		}
		rec.MayHaveHappened = true
		_, err = records.Runs.Put(tx, "acme", "unsure", rec, version)
		return err
	})
	d.look(0)
	for _, n := range d.got {
		if told, want := strings.Contains(string(n.Body), `"mayHaveHappened":true`), strings.Contains(string(n.Body), `"unsure"`); told != want {
			t.Errorf("%s", n.Body)
		}
	}
	if len(d.got) != 2 {
		t.Errorf("%d were told", len(d.got))
	}
}
