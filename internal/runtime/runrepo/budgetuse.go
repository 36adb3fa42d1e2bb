package runrepo

import (
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/storage/store"
)

// BudgetUsed is what is used of a budget at a moment.
type BudgetUsed struct {
	budget.Used
	FreeAt time.Time // when it has room again; zero where it has

	entries []usedEntry // within its window, the newest first
}

// usedEntry is a step that counts in a budget.
type usedEntry struct {
	step   string // run/step
	amount budget.Amount
}

// maxUses is how many steps of a window are looked at for what became of them.
const maxUses = 5000

// BudgetsUsed says what is used of the budgets that are kept under an id
// (records.SpendingOfCapability and SpendingOfAgent). It changes nothing.
func (l *Repository) BudgetsUsed(tx store.Tx, tenant, id string, budgets []countersign.Budget) ([]BudgetUsed, error) {
	if len(budgets) == 0 {
		return nil, nil
	}
	s, err := l.loadSpending(tx, tenant, id, budgets, l.cfg.Now())
	if err != nil {
		return nil, err
	}
	out := make([]BudgetUsed, len(budgets))
	for i, used := range s.used(func(string) bool { return true }, -1) {
		out[i].Used = used
		if err := s.entriesOf(s.known.budgets[i], &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// entriesOf reads what counts, and finds when there is room again.
func (s *spending) entriesOf(b measured, u *BudgetUsed) error {
	t := s.tallies[b.tally]
	for n := s.known.record.Next - 1; n >= t.Tail && len(u.entries) < maxUses; n-- {
		e, err := s.entry(n)
		if err != nil {
			return err
		}
		if !e.Void {
			u.entries = append(u.entries, usedEntry{e.Step, amount(e, b.Sum)})
		}
	}
	left := t
	for n := t.Tail; n < s.known.record.Next && full(u.Used, left); n++ {
		e, err := s.entry(n)
		if err != nil {
			return err
		}
		if e.Void {
			continue
		}
		left = left.with(amount(e, b.Sum), -1)
		u.FreeAt = e.At.Add(b.window)
	}
	if full(u.Used, left) {
		u.FreeAt = time.Time{} // it never has room
	}
	return nil
}

// full reports that nothing more is let out.
func full(u budget.Used, t tally) bool {
	if u.Budget.Sum == "" {
		return t.Count >= u.Budget.Count
	}
	return t.Beyond > 0 || u.Most == nil || t.sum.Cmp(*u.Most) >= 0
}

// Amount is what is used: a number of steps, or a sum.
func (u BudgetUsed) Amount() countersign.Value {
	if u.Budget.Sum == "" {
		return countersign.Int(u.Count)
	}
	return countersign.RawValue(u.Sum.Number())
}

// MayHaveHappened is the part of what is used of steps of which nobody knows what they did. It
// looks at steps that this function hasn't seen before, the rest is in known.
func (u BudgetUsed) MayHaveHappened(tx store.Tx, tenant string, known map[string]bool) (countersign.Value, error) {
	count, sum := int64(0), budget.Decimal{}
	for _, e := range u.entries {
		open, seen := known[e.step]
		if !seen {
			var err error
			if open, err = mayHave(tx, tenant, e.step); err != nil {
				return countersign.Value{}, err
			}
			known[e.step] = open
		}
		if open {
			count, sum = count+1, sum.Add(e.amount.Value)
		}
	}
	if u.Budget.Sum == "" {
		return countersign.Int(count), nil
	}
	return countersign.RawValue(sum.Number()), nil
}

// mayHave reports a step of which nobody knows what it did. One that is gone or can't be read has
// no say.
func mayHave(tx store.Tx, tenant, key string) (open bool, err error) {
	run, id, _ := strings.Cut(key, "/")
	err = EachStep(tx, Ref{Tenant: tenant, RunID: run}, 0, func(s *countersign.StepRun) {
		if s.ID == id {
			open = s.MayHaveHappened || s.Status == countersign.StepRecoveryRequired || s.Status == countersign.StepAbandoned
		}
	})
	if errors.Is(err, store.ErrNotFound) || Unreadable(err) {
		return false, nil
	}
	return open, err
}
