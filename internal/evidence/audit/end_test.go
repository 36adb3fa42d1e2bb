package audit

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

func verifiedEnd(t *testing.T, s store.Store, most int64) (v countersign.AuditVerification, read int64) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) (err error) {
		v, read, err = VerifyEnd(tx, tenant, most)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return v, read
}

func TestTheEndOfALogIsVerifiedWithoutItsBeginning(t *testing.T) {
	for size := range 20 {
		for most := range int64(22) {
			v, read := verifiedEnd(t, journal(t, size), most)
			if !v.Intact || v.Records != int64(size) || read != min(most, int64(size)) {
				t.Fatalf("the last %d of %d: read %d, %+v", most, size, read, v)
			}
		}
	}
}

// TestTamperingInTheEndOfALogIsFound, in a log of eleven records: subtrees of 8, 2 and 1.
func TestTamperingInTheEndOfALogIsFound(t *testing.T) {
	resealed := func(seq int64) func(tampering) {
		return func(m tampering) { m.reseal(seq, func(r *countersign.AuditRecord) { r.Reason = "" }) }
	}
	for name, c := range map[string]struct {
		tamper func(tampering)
		broken int64
	}{
		"edited":                            {func(m tampering) { m.edit(7, `"after":"READY"`, `"after":"FAILED"`) }, 7},
		"deleted, where reading begins":     {func(m tampering) { m.remove(6) }, 6},
		"deleted":                           {func(m tampering) { m.remove(7) }, 7},
		"cut off":                           {func(m tampering) { m.remove(10) }, 10},
		"added":                             {func(m tampering) { m.insert(recordID(11), 11, 11) }, 11},
		"edited, with a hash that fits":     {resealed(9), 8},
		"the last, with a hash that fits":   {resealed(10), 10},
		"a head that isn't one of this log": {func(m tampering) { m.head(func(h *head) { h.Roots = nil }) }, 0},
	} {
		s := journal(t, 11)
		update(t, s, func(tx store.Tx) error { c.tamper(tampering{t, tx}); return nil })
		if v, _ := verifiedEnd(t, s, 5); v.Intact || broke(v) != c.broken {
			t.Errorf("%s: %+v, broken at %v", name, v, broke(v))
		}
	}
}
