package runrepo

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

func BenchmarkZSpend(b *testing.B) {
	db, repo := memory.New(), New(Config{})
	budgets := []countersign.Budget{{Count: 1e9, Window: "720h", Then: "ASK", Reason: "r"}, {Sum: "amount", Most: countersign.RawValue("1e12"), Window: "24h", Then: "DENY", Reason: "r"}}
	declared := func(input string) bool { return input == "amount" }
	in := map[string]countersign.Value{"amount": countersign.RawValue("24.90"), "orderId": countersign.String("A-00001")}
	b.ReportAllocs()
	err := db.Update(context.Background(), func(tx store.Tx) error {
		for b.Loop() {
			s, err := repo.loadSpending(tx, "acme", "spent/capability/default-shop/refund", budgets, time.Now())
			if err != nil {
				return err
			}
			budget.Judge(s.used(declared, -1), in)
			if err := s.add("run-000000123/s1", in, declared); err != nil {
				return err
			}
			if err := s.save(repo); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
