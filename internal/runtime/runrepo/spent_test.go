package runrepo

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// sent is a step as the test remembers it.
type sent struct {
	at     time.Time
	amount *big.Rat
}

// TestTalliesAreWhatIsWithinTheWindow: steps are sent at any times, clocks are set back,
// budgets come, change and go, and each tally is what adding all up gives.
func TestTalliesAreWhatIsWithinTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, repo := memory.New(), New(Config{})
		now, latest := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), time.Time{}
		var all []sent
		budgets := drawBudgets(t)
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				budgets = drawBudgets(t)
			case 1:
				now = now.Add(-time.Hour)
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(0, 2500).Draw(t, "hours")) * time.Hour)
			default:
				now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			}
			text := rapid.SampledFrom([]string{"0.1", "7", "1e3", "-4", "0"}).Draw(t, "amount")
			err := db.Update(context.Background(), func(tx store.Tx) error {
				s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now)
				if err != nil {
					return err
				}
				checkTallies(t, s, all)
				declared := func(input string) bool { return input == "amount" }
				if err := s.add(fmt.Sprint("run/", n), map[string]countersign.Value{"amount": countersign.RawValue(text)}, declared); err != nil {
					return err
				}
				return s.save(repo)
			})
			if err != nil {
				t.Fatal(err)
			}
			if latest.Before(now) {
				latest = now
			}
			amount, _ := new(big.Rat).SetString(text)
			if amount.Sign() < 0 {
				amount = new(big.Rat)
			}
			all = append(all, sent{latest, amount})
		}
		checkParts(t, db, latest)
	})
}

func drawBudgets(t *rapid.T) (out []countersign.Budget) {
	for range rapid.IntRange(1, 3).Draw(t, "budgets") {
		b := countersign.Budget{Count: 5, Window: rapid.SampledFrom([]string{"1h", "24h", "720h"}).Draw(t, "window"), Then: "DENY", Reason: "r"}
		if rapid.Bool().Draw(t, "sums") {
			b.Count, b.Sum, b.Most = 0, "amount", countersign.RawValue("9")
		}
		out = append(out, b)
	}
	return out
}

func checkTallies(t *rapid.T, s *spending, all []sent) {
	for i, u := range s.used(func(string) bool { return true }, -1) {
		count, sum := int64(0), new(big.Rat)
		for _, step := range all {
			if step.at.After(s.now.Add(-s.known.budgets[i].window)) {
				count++
				sum.Add(sum, step.amount)
			}
		}
		if u.Count != count || u.Budget.Sum != "" && u.Sum.Rat().Cmp(sum) != 0 {
			t.Fatalf("%+v: %d steps and %s were used, and the tally says %d and %s", u.Budget, count, sum, u.Count, u.Sum.Text())
		}
	}
}

// checkParts: what no window reaches is forgotten, some parts later.
func checkParts(t *rapid.T, db store.Store, now time.Time) {
	err := db.View(context.Background(), func(tx store.Tx) error {
		row, err := tx.Get(store.Meta, "acme", "spent/agent/a")
		if err != nil {
			return err
		}
		var s records.Spending
		if err := records.Decode(row, &s); err != nil {
			return err
		}
		rows, err := tx.List(store.Meta, "acme", store.Query{})
		if parts := s.Next/records.SpentPerPart + 2 - s.First; int64(len(rows)) > parts*(records.SpentPerPart+1) {
			t.Fatalf("%d rows, and %d parts from %d at %s", len(rows), parts, s.First, now)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAStepFindsItsEntry, and with it that it counts already.
func TestAStepFindsItsEntry(t *testing.T) {
	db, repo, budgets := memory.New(), New(Config{}), []countersign.Budget{{Count: 1, Window: "1h", Then: "DENY", Reason: "r"}}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	err := db.Update(context.Background(), func(tx store.Tx) error {
		none := func(string) bool { return false }
		for n := range 3 * records.SpentPerPart {
			s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now)
			if err != nil {
				return err
			}
			if err := s.add(fmt.Sprint("run/", n), nil, none); err != nil {
				return err
			}
			if err := s.save(repo); err != nil {
				return err
			}
		}
		s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now)
		if err != nil {
			return err
		}
		for step, want := range map[string]int64{"run/0": 0, "run/10": 10, "run/23": 23, "run/24": -1} {
			if got, err := s.find(step); got != want || err != nil {
				t.Errorf("%s is entry %d: %v", step, got, err)
			}
		}
		later, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now.Add(time.Hour))
		if err == nil && (s.used(none, 10)[0].Own != true || later.used(none, 10)[0].Own) {
			t.Error("an entry is its step's own as long as it is within the window")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
