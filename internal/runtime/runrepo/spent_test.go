package runrepo

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/allocbudget"
	"github.com/countersign/countersign/internal/testing/memory"
)

// sent is a step as the test remembers it.
type sent struct {
	at     time.Time
	amount *big.Rat
}

var errUndone = errors.New("undone")

// TestTalliesAreWhatIsWithinTheWindow: steps are sent at any times by two replicas in turn,
// clocks are set back, transactions fail, budgets come, change and go, and each tally is what
// adding all up gives.
func TestTalliesAreWhatIsWithinTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, replicas := memory.New(), []*Repository{New(Config{}), New(Config{})}
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
			replica, undone := rapid.SampledFrom(replicas).Draw(t, "replica"), rapid.IntRange(0, 4).Draw(t, "undone") == 0
			err := db.Update(context.Background(), func(tx store.Tx) error {
				s, err := replica.loadSpending(tx, "acme", "spent/agent/a", budgets, now)
				if err != nil {
					return err
				}
				known, _ := seenAt(all, latest, now)
				checkTallies(t, s, known)
				declared := func(input string) bool { return input == "amount" }
				if err := s.add(fmt.Sprint("run/", n), map[string]countersign.Value{"amount": countersign.RawValue(text)}, declared); err != nil {
					return err
				}
				if err := s.save(replica); err != nil || !undone {
					return err
				}
				return errUndone
			})
			if undone && errors.Is(err, errUndone) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			all, latest = seenAt(all, latest, now)
			amount, _ := new(big.Rat).SetString(text)
			if amount.Sign() < 0 {
				amount = new(big.Rat)
			}
			all = append(all, sent{latest, amount})
		}
		if len(all) > 0 {
			checkParts(t, db, latest)
		}
	})
}

// seenAt is what was sent by what the clock says now: where it was set back, what was sent while it
// was ahead was sent by now. A difference such as the clocks of two machines may have is none.
func seenAt(all []sent, latest, now time.Time) ([]sent, time.Time) {
	if !now.Before(latest.Add(-clockSkew)) {
		if latest.Before(now) {
			latest = now
		}
		return all, latest
	}
	all = slices.Clone(all)
	for i := range all {
		if now.Before(all[i].at) {
			all[i].at = now
		}
	}
	return all, now
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
		if len(s.known.record.Back) == maxBack && u.Count >= count {
			continue // the oldest of so many is forgotten: what it says counts longer
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
			if got, err := s.find(step, now); got != want || err != nil {
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

// TestARecordOfTheReleaseBeforeIsCountedOn: its sums and amounts are fractions, its entries
// name requests that have records of their own, and these go when the entries do.
func TestARecordOfTheReleaseBeforeIsCountedOn(t *testing.T) {
	db, repo, now := memory.New(), New(Config{}), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	digest := "sha256:" + strings.Repeat("ab", 32)
	entry := func(n int) string {
		return fmt.Sprintf(`{"at":%q,"step":"run-%d/pay","amounts":{"amount":"249/10"},"digest":%q}`, now.Add(time.Duration(n)*time.Minute).Format(time.RFC3339Nano), n, digest)
	}
	entries := make([]string, 10)
	docs := map[string]string{}
	for i := range entries {
		entries[i] = entry(i)
		docs[records.SentRequestID(digest, now.Add(time.Duration(i)*time.Minute), fmt.Sprintf("run-%d/pay", i))] = fmt.Sprintf(`{"runId":"run-%d","stepId":"pay","at":"2026-03-01T09:00:00Z"}`, i)
	}
	docs["spentpart/000000000000/spent/agent/a"] = `{"entries":[` + strings.Join(entries[:8], ",") + `]}`
	docs["spent/agent/a"] = `{"next":10,"first":0,"lastAt":"2026-03-01T09:09:00Z","tallies":{"amount|1h0m0s":{"tail":0,"at":"2026-03-01T09:00:00Z","count":10,"sum":"249"}},"open":[` + strings.Join(entries[8:], ",") + `]}`
	budgets := []countersign.Budget{{Sum: "amount", Most: countersign.RawValue("249"), Window: "1h", Then: "DENY", Reason: "r"}}
	err := db.Update(context.Background(), func(tx store.Tx) error {
		for id, doc := range docs {
			if err := tx.Put(store.Meta, "acme", store.Row{ID: id, Doc: []byte(doc)}, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	declared := func(string) bool { return true }
	used := func(now time.Time) (u budget.Used) {
		err := db.Update(context.Background(), func(tx store.Tx) error {
			s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now)
			if err != nil {
				return err
			}
			u = s.used(declared, -1)[0]
			if err := s.add("run-x/pay", map[string]countersign.Value{"amount": countersign.RawValue("0.1")}, declared); err != nil {
				return err
			}
			return s.save(repo)
		})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	if u := used(now.Add(10 * time.Minute)); u.Count != 10 || u.Sum.Text() != "249" {
		t.Errorf("%d steps and %s were used, want 10 and 249", u.Count, u.Sum.Text())
	}
	if u := used(now.Add(68*time.Minute + 30*time.Second)); u.Count != 2 || u.Sum.Cmp(budget.ParseDecimal("25.0")) != 0 {
		t.Errorf("%d steps and %s were used an hour later, want 2 and 25", u.Count, u.Sum.Text())
	}
	for range 20 {
		used(now.Add(records.SpentLife + time.Hour))
	}
	err = db.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Meta, "acme", store.Query{})
		named := 0
		for _, r := range rows {
			if strings.HasPrefix(r.ID, "sent/") {
				named++
			}
		}
		if named != 2 { // of the part with the newest two, which isn't the oldest yet
			t.Errorf("%d records of requests are left of 10", named)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkBudgetSpending counts a step of a capability with a count and a sum.
func BenchmarkBudgetSpending(b *testing.B) {
	db, repo, now, n := memory.New(), New(Config{}), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), 0
	budgets := []countersign.Budget{
		{Count: 1e9, Window: "720h", Then: "ASK", Reason: "r"},
		{Sum: "amount", Most: countersign.RawValue("1e12"), Window: "24h", Then: "DENY", Reason: "r"},
	}
	declared := func(input string) bool { return input == "amount" }
	input := map[string]countersign.Value{"amount": countersign.RawValue("24.90"), "orderId": countersign.String("A-48213")}
	err := db.Update(context.Background(), func(tx store.Tx) (err error) {
		allocbudget.Allocations(b, 25, func() {
			n++
			var s *spending
			if s, err = repo.loadSpending(tx, "acme", "spent/capability/shop/refund", budgets, now.Add(time.Duration(n)*time.Second)); err != nil {
				b.Fatal(err)
			}
			if got := budget.Judge(s.used(declared, -1), input); len(got) > 0 {
				b.Fatal(got)
			}
			if err = errors.Join(s.add("run-1/refund", input, declared), s.save(repo)); err != nil {
				b.Fatal(err)
			}
		})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// counting counts the rows that a transaction reads one after the other.
type counting struct {
	store.Tx
	gets *int
}

func (c counting) Get(t *store.Table, tenant, id string) (store.Row, error) {
	*c.gets++
	return c.Tx.Get(t, tenant, id)
}

// TestAnEntryIsFoundByItsTime: a step without an entry, or with one, is looked for in some parts,
// however many there are, in the transaction that others wait for.
func TestAnEntryIsFoundByItsTime(t *testing.T) {
	db, repo, gets := memory.New(), New(Config{}), 0
	budgets := []countersign.Budget{{Count: 1e6, Window: "1h", Then: "DENY", Reason: "r"}}
	now, none := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), func(string) bool { return false }
	const n = 4000
	err := db.Update(context.Background(), func(tx store.Tx) error {
		for i := range n {
			s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, now.Add(time.Duration(i)*time.Minute))
			if err != nil {
				return err
			}
			if err := s.add(fmt.Sprint("run/", i), nil, none); err != nil {
				return err
			}
			if err := s.save(repo); err != nil {
				return err
			}
		}
		for step, c := range map[string]struct {
			sent time.Duration
			want int64
		}{"run/0": {0, 0}, "run/2000": {2000, 2000}, "run/3999": {3999, 3999}, "run-x/pay": {1234, -1}, "run-y/pay": {-1, -1}, "run-z/pay": {n + 1, -1}} {
			s, err := repo.loadSpending(counting{tx, &gets}, "acme", "spent/agent/a", budgets, now.Add(n*time.Minute))
			if err != nil {
				return err
			}
			gets = 0
			at, err := s.find(step, now.Add(c.sent*time.Minute))
			if at != c.want || gets > 16 || err != nil {
				t.Errorf("%s is entry %d, want %d; %d rows were read: %v", step, at, c.want, gets, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnEntryIsFoundBehindATurnOfTheClock: what was sent while the clock was ahead has a later time
// than what was sent after it, and is found by it, so that its step counts once when it is sent again.
func TestAnEntryIsFoundBehindATurnOfTheClock(t *testing.T) {
	db, repo, budgets := memory.New(), New(Config{}), []countersign.Budget{{Count: 9, Window: "10m", Then: "DENY", Reason: "r"}}
	right, none := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), func(string) bool { return false }
	sent := []struct {
		step string
		at   time.Time
	}{
		{"run/ahead", right.Add(3 * time.Hour)}, {"run/back", right}, {"run/next", right.Add(time.Minute)},
		{"run/again-ahead", right.Add(time.Hour)}, {"run/again-back", right.Add(2 * time.Minute)}, {"run/later", right.Add(3*time.Hour + time.Second)},
	}
	err := db.Update(context.Background(), func(tx store.Tx) error {
		for i, x := range sent {
			s, err := repo.loadSpending(tx, "acme", "spent/agent/a", budgets, x.at)
			if err == nil {
				err = s.add(x.step, nil, none)
			}
			if err == nil {
				err = s.save(repo)
			}
			if err != nil {
				return err
			}
			for n, earlier := range sent[:i+1] {
				if got, err := s.find(earlier.step, earlier.at); got != int64(n) || err != nil {
					t.Errorf("after %s, %s is entry %d, want %d: %v", x.step, earlier.step, got, n, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
