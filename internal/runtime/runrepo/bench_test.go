package runrepo_test

import (
	"testing"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// BenchmarkBudgetRun starts a run of two steps up to its approval: two commits, with
// all their records, on the memory store.
func BenchmarkBudgetRun(b *testing.B) {
	h := open(b)
	allocbudget.Allocations(b, 405, func() {
		ref, err := h.start("acme")
		if err != nil {
			b.Fatal(err)
		}
		h.update(func(tx store.Tx) error {
			_, err := h.repository.Apply(tx, ref, nil, run.Resumed{}, runrepo.System)
			return err
		})
	})
}
