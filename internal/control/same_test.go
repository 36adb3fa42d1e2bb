package control_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestTheNewestStepsThatBudgetsLetOutAreNamed beside an approval of the same request: ten of
// them, also those that a release before has recorded, none of another request, also where half
// of its digest is the same, and none that is older than is looked for.
func TestTheNewestStepsThatBudgetsLetOutAreNamed(t *testing.T) {
	h := open(t)
	now := time.Now()
	sentAt := func(age time.Duration, digest string, earlier bool) string {
		id, at := h.stands(t, as("acme"), now, countersign.RunCompleted, ""), now.Add(-age)
		h.must(h.store.Update(background, func(tx store.Tx) error {
			s, version, err := records.Steps(id, 0, "").Get(tx, "acme", records.StepID(id, 0))
			if err != nil {
				return err
			}
			s.RequestDigest = countersign.StepDigest(digest)
			sent := records.SentKey(digest, at)
			if earlier {
				sent = ""
				old := records.SentRequest{RunID: id, StepID: s.ID, At: at}
				if _, err := records.SentRequests.Put(tx, "acme", records.SentRequestID(digest, at, id+"/"+s.ID), &old, 0); err != nil {
					return err
				}
			}
			_, err = records.Steps(id, 0, sent).Put(tx, "acme", records.StepID(id, 0), s, version)
			return err
		}))
		return id
	}
	var want []string
	for i := range 40 {
		id := sentAt(time.Duration(i)*time.Minute, "digest-1", i%2 == 1)
		if i < 10 {
			want = append(want, id)
		}
		sentAt(time.Duration(i)*time.Minute, "digest-11", i%2 == 1)
	}
	sentAt(91*24*time.Hour, "digest-2", false)
	sentAt(91*24*time.Hour, "digest-2", true)
	lately := sentAt(89*24*time.Hour, "digest-2", false)
	alike := "sha256:" + strings.Repeat("a", 32)
	sentAt(time.Minute, alike+strings.Repeat("b", 32), false)
	this := sentAt(time.Minute, alike+strings.Repeat("c", 32), false)
	for digest, want := range map[string][]string{"digest-1": want, "digest-2": {lately}, alike + strings.Repeat("c", 32): {this}} {
		shown, err := h.service.Approval(background, approver("ben@acme.example"), h.asks(t, as("acme"), digest))
		h.must(err)
		var got []string
		for _, same := range shown.Same {
			got = append(got, same.RunID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", digest, got, want)
		}
	}
}
