package control_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestRedactingARunAndEndingAHoldAreDecidedBySeveral, of a run that is here and of an archived one.
func TestRedactingARunAndEndingAHoldAreDecidedBySeveral(t *testing.T) {
	h := openGuarded(t, 1)
	here := h.ended("acme")
	archived := h.ended("acme")
	h.must(h.store.Update(background, func(tx store.Tx) error {
		rec, _, err := records.Runs.Get(tx, "acme", archived)
		if err != nil {
			return err
		}
		if _, err := records.ArchivedRuns.Put(tx, "acme", archived, records.ArchivedOf(rec, "acme/file", "00", time.Now()), 0); err != nil {
			return err
		}
		return records.Runs.Delete(tx, "acme", archived)
	}))
	for _, run := range []string{here, archived} {
		held, err := h.service.HoldRun(background, h.admin(mara), run, countersign.HoldWrite{Hold: true, Reason: "the auditors"})
		if err != nil || held.Hold == nil {
			t.Fatalf("%s: %v, and holding a run weakens nothing", run, err)
		}
		for _, ask := range []func() (countersign.Run, error){
			func() (countersign.Run, error) {
				return h.service.HoldRun(background, h.admin(mara), run, countersign.HoldWrite{Hold: false, Reason: "they are done"})
			},
			func() (countersign.Run, error) {
				return h.service.RedactRun(background, h.admin(mara), run, "request 48")
			},
		} {
			_, err := ask()
			if _, err := h.decide(noor, h.proposed(err), countersign.ApprovalApproved); err != nil {
				t.Fatalf("%s: %v", run, err)
			}
		}
	}
	for _, run := range []string{here, archived} {
		_, err := h.service.RedactRun(background, h.admin(mara), run, "again")
		wantCode(t, err, countersign.CodeStateConflict)
	}
}
