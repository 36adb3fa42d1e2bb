package audit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

func prove(t *testing.T, p *Prover, s store.Store, subjects ...string) (out Proven, leftOut int, err error) {
	t.Helper()
	view(t, s, func(tx store.Tx) error {
		var found []Sealed
		if found, leftOut, err = About(tx, tenant, subjects); err == nil {
			out, err = p.Prove(tx, tenant, found)
		}
		return nil
	})
	return out, leftOut, err
}

func checked(t *testing.T, out Proven) {
	t.Helper()
	for i, s := range out.Records {
		var path tlog.RecordProof
		for _, text := range out.Proofs[i] {
			path = append(path, merkle.ParseHash(text))
		}
		if err := tlog.CheckRecord(path, out.Size, merkle.ParseHash(out.Root), s.Record.Seq, tlog.RecordHash([]byte(s.Text))); err != nil {
			t.Fatalf("record %d of %d: %v", s.Record.Seq, out.Size, err)
		}
	}
}

// TestEveryRecordIsProvenUnderTheHead: for logs of every size about a few subtrees,
// by one Prover that goes on while the log grows.
func TestEveryRecordIsProvenUnderTheHead(t *testing.T) {
	s, p, stride := journal(t, 0), new(Prover), 97
	if testing.Short() {
		stride *= 5
	}
	for n := 1; n <= 1100; n++ {
		update(t, s, func(tx store.Tx) error { return Append(tx, tenant, []countersign.AuditRecord{record(n - 1)}) })
		if n > 20 && n%stride != 0 && n&(n-1) != 0 {
			continue
		}
		out, _, err := prove(t, p, s, "run/r-1", "run/r-3")
		if v := verified(t, s); err != nil || out.Size != int64(n) || out.Root != v.Head {
			t.Fatalf("with %d records: %v", n, err)
		}
		checked(t, out)
		inOrder := slices.IsSortedFunc(out.Records, func(a, b Sealed) int { return int(a.Record.Seq - b.Record.Seq) })
		if want := (n+3)/5 + (n+1)/5; len(out.Records) != want || !inOrder {
			t.Fatalf("with %d records: %d about the two, want %d, in order %v", n, len(out.Records), want, inOrder)
		}
	}
}

func TestTamperedLogProvesNothing(t *testing.T) {
	for name, tamper := range map[string]func(tampering){
		"the record itself":      func(m tampering) { m.edit(6, `"after":"READY"`, `"after":"FAILED"`) },
		"resealed":               func(m tampering) { m.reseal(6, func(r *countersign.AuditRecord) { r.Reason = "" }) },
		"another one, resealed":  func(m tampering) { m.reseal(300, func(r *countersign.AuditRecord) { r.Reason = "" }) },
		"another one is missing": func(m tampering) { m.remove(7) },
		"the head": func(m tampering) {
			m.head(func(h *head) { h.Roots[0] = h.Roots[1] })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := journal(t, 700)
			update(t, s, func(tx store.Tx) error {
				tamper(tampering{t, tx})
				return nil
			})
			if _, _, err := prove(t, new(Prover), s, "run/r-1"); !errors.Is(err, errUnproven) || !strings.Contains(err.Error(), "audit: the records do not come to the head of the log; verify it") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestProofsSurviveAStoreThatWasPutBack: what is remembered of a longer log is
// forgotten where the log is another one now.
func TestProofsSurviveAStoreThatWasPutBack(t *testing.T) {
	p := new(Prover)
	if _, _, err := prove(t, p, journal(t, 600), "run/r-1"); err != nil {
		t.Fatal(err)
	}
	other := memory.New()
	update(t, other, func(tx store.Tx) error {
		batch := make([]countersign.AuditRecord, 600)
		for i := range batch {
			batch[i] = record(i + 1)
		}
		return Append(tx, tenant, batch)
	})
	out, _, err := prove(t, p, other, "run/r-1")
	if err != nil {
		t.Fatal(err)
	}
	checked(t, out)
}

func TestRefusalsBeyondABoundAreCounted(t *testing.T) {
	s := memory.New()
	update(t, s, func(tx store.Tx) error {
		batch := make([]countersign.AuditRecord, maxRefused+7)
		for i := range batch {
			batch[i] = record(0)
			batch[i].Outcome = "refused: state_conflict"
		}
		return Append(tx, tenant, append(batch, record(0)))
	})
	out, leftOut, err := prove(t, new(Prover), s, "run/r-0")
	if last := out.Records[len(out.Records)-1].Record; err != nil || leftOut != 7 || last.Outcome != countersign.AuditDone {
		t.Errorf("%d left out, %v", leftOut, err)
	}
}

// TestARecordWithoutItsHashProvesNothing: not even that it was changed.
func TestARecordWithoutItsHashProvesNothing(t *testing.T) {
	if _, err := sealedHash(store.Row{ID: "0000000000000007", Doc: []byte("{}")}); err == nil || err.Error() != "audit record 0000000000000007: it holds no hash" {
		t.Errorf("%v", err)
	}
}
