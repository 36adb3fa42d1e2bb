package runrepo

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// spending is what was used of the budgets of one capability or agent, as a transaction
// sees it. A tally is moved on as time passes, so that a step costs the same however many
// were sent before.
type spending struct {
	tx      store.Tx
	tenant  string
	id      string
	budgets []countersign.Budget
	record  records.Spending
	version int64
	parts   map[int64]*records.SpentPart
	now     time.Time // never before the latest entry, whatever the clock says
	changed bool
}

func loadSpending(tx store.Tx, tenant, id string, budgets []countersign.Budget, now time.Time) (*spending, error) {
	s := &spending{tx: tx, tenant: tenant, id: id, budgets: budgets, now: now, parts: map[int64]*records.SpentPart{}}
	rec, version, err := records.Spendings.Get(tx, tenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		s.record.Tallies = map[string]records.Tally{}
	case err != nil:
		return nil, err
	default:
		s.record, s.version = *rec, version
	}
	if s.now.Before(s.record.LastAt) {
		s.now = s.record.LastAt
	}
	tallies := make(map[string]records.Tally, len(budgets))
	for _, b := range budgets {
		if tallies[budget.Key(b)], err = s.tally(b); err != nil {
			return nil, err
		}
	}
	s.changed = !maps.Equal(tallies, s.record.Tallies)
	s.record.Tallies = tallies
	return s, nil
}

// tally counts what is within a budget's window now.
func (s *spending) tally(b countersign.Budget) (records.Tally, error) {
	t, known := s.record.Tallies[budget.Key(b)]
	if !known {
		return s.newTally(b)
	}
	if t.Tail < s.record.Next && s.within(b, t.At) {
		return t, nil
	}
	sum := ratOf(t.Sum)
	t.At = time.Time{}
	for ; t.Tail < s.record.Next; t.Tail++ {
		e, err := s.entry(t.Tail)
		if err != nil {
			return t, err
		}
		if s.within(b, e.At) {
			t.At = e.At
			break
		}
		a := amount(e, b.Sum)
		t.Count--
		if sum.Sub(sum, a.Value); a.Beyond {
			t.Beyond--
		}
	}
	t.Sum = sum.RatString()
	return t, nil
}

// newTally counts the entries of a window that nobody has counted yet, the newest first.
func (s *spending) newTally(b countersign.Budget) (records.Tally, error) {
	t, sum := records.Tally{Tail: s.record.Next}, new(big.Rat)
	for t.Tail > s.record.First*records.SpentPerPart {
		e, err := s.entry(t.Tail - 1)
		if err != nil {
			return t, err
		}
		if !s.within(b, e.At) {
			break
		}
		a := amount(e, b.Sum)
		t.Tail--
		t.At = e.At
		t.Count++
		if sum.Add(sum, a.Value); a.Beyond {
			t.Beyond++
		}
	}
	t.Sum = sum.RatString()
	return t, nil
}

func (s *spending) within(b countersign.Budget, at time.Time) bool {
	return at.After(s.now.Add(-b.Duration()))
}

func (s *spending) entry(n int64) (*records.Spent, error) {
	if n >= s.record.Next-int64(len(s.record.Open)) {
		return &s.record.Open[n%records.SpentPerPart], nil
	}
	p, err := s.part(n / records.SpentPerPart)
	if err != nil {
		return nil, err
	}
	return &p.Entries[n%records.SpentPerPart], nil
}

func (s *spending) part(n int64) (*records.SpentPart, error) {
	if p := s.parts[n]; p != nil {
		return p, nil
	}
	p, _, err := records.SpentParts.Get(s.tx, s.tenant, records.SpentPartID(s.id, n))
	if err == nil {
		s.parts[n] = p
	}
	return p, err
}

// find gives the number of a step's entry, -1 for a step that has none. It is asked only of
// steps that are sent again.
func (s *spending) find(step string) (int64, error) {
	for n := s.record.Next - 1; n >= s.record.First*records.SpentPerPart; n-- {
		e, err := s.entry(n)
		if err != nil || e.Step == step {
			return n, err
		}
	}
	return -1, nil
}

// used says of each budget what was used of it. own is the number of the entry of the step
// that is judged, -1 for none.
func (s *spending) used(declared func(input string) bool, own int64) (out []budget.Used) {
	for _, b := range s.budgets {
		t := s.record.Tallies[budget.Key(b)]
		out = append(out, budget.Used{
			Budget: b, Count: t.Count, Sum: ratOf(t.Sum), Beyond: t.Beyond, Own: own >= t.Tail && own >= 0, Declared: b.Sum != "" && declared(b.Sum),
		})
	}
	return out
}

// add counts a step that is sent now, unless it has an entry.
func (s *spending) add(step string, own int64, digest string, input map[string]countersign.Value, declared func(input string) bool) error {
	if own >= 0 {
		return nil
	}
	e := records.Spent{At: s.now, Step: step, Digest: digest, Amounts: amounts(input, declared, s.budgets)}
	if err := s.nameSent(&e); err != nil {
		return err
	}
	s.record.Open = append(slices.Clone(s.record.Open), e)
	filled := len(s.record.Open) == records.SpentPerPart
	if filled {
		id := records.SpentPartID(s.id, s.record.Next/records.SpentPerPart)
		if _, err := records.SpentParts.Put(s.tx, s.tenant, id, &records.SpentPart{Entries: s.record.Open}, 0); err != nil {
			return err
		}
		s.record.Open = nil
	}
	counted := map[string]bool{} // budgets that measure the same share a tally
	for _, b := range s.budgets {
		if counted[budget.Key(b)] {
			continue
		}
		counted[budget.Key(b)] = true
		t, a := s.record.Tallies[budget.Key(b)], amount(&e, b.Sum)
		if t.Tail == s.record.Next {
			t.At = e.At
		}
		t.Count++
		t.Sum = new(big.Rat).Add(ratOf(t.Sum), a.Value).RatString()
		if a.Beyond {
			t.Beyond++
		}
		s.record.Tallies[budget.Key(b)] = t
	}
	s.record.Next++
	s.record.LastAt, s.changed = s.now, true
	if !filled {
		return nil
	}
	return s.forget()
}

// nameSent makes a step that no approval let out findable by its request.
func (s *spending) nameSent(e *records.Spent) error {
	if e.Digest == "" {
		return nil
	}
	id := records.SentRequestID(e.Digest, e.At, e.Step)
	run, step, _ := strings.Cut(e.Step, "/")
	_, err := records.SentRequests.Put(s.tx, s.tenant, id, &records.SentRequest{RunID: run, StepID: step, At: e.At}, 0)
	return err
}

// forget deletes the parts that nobody looks at any more, some at a time: with each part that
// is filled, more than one.
func (s *spending) forget() error {
	const most = 2
	oldest := s.now.Add(-records.SpentLife)
	for i := 0; i < most && (s.record.First+1)*records.SpentPerPart < s.record.Next; i++ {
		p, err := s.part(s.record.First)
		if err != nil {
			return err
		}
		if p.Entries[len(p.Entries)-1].At.After(oldest) {
			return nil
		}
		for _, e := range p.Entries {
			if e.Digest == "" {
				continue
			}
			if err := records.SentRequests.Delete(s.tx, s.tenant, records.SentRequestID(e.Digest, e.At, e.Step)); err != nil {
				return err
			}
		}
		if err := records.SpentParts.Delete(s.tx, s.tenant, records.SpentPartID(s.id, s.record.First)); err != nil {
			return err
		}
		s.record.First++
	}
	return nil
}

func (s *spending) save() error {
	if !s.changed {
		return nil
	}
	_, err := records.Spendings.Put(s.tx, s.tenant, s.id, &s.record, s.version)
	return err
}

// amounts are the values that a budget adds or may come to add.
func amounts(input map[string]countersign.Value, declared func(input string) bool, budgets []countersign.Budget) map[string]string {
	out := map[string]string{}
	keep := func(name string) {
		if v, given := input[name]; given && v.Kind() == countersign.KindNumber {
			if a := budget.AmountOf(v); a.Beyond {
				out[name] = records.SpentBeyond
			} else {
				out[name] = a.Value.RatString()
			}
		}
	}
	for name := range input {
		if declared(name) {
			keep(name)
		}
	}
	for _, b := range budgets {
		keep(b.Sum)
	}
	return out
}

func amount(e *records.Spent, input string) budget.Amount {
	text := e.Amounts[input]
	return budget.Amount{Value: ratOf(text), Beyond: text == records.SpentBeyond}
}

// ratOf reads a fraction, 0 for none.
func ratOf(text string) *big.Rat {
	if r, ok := new(big.Rat).SetString(text); ok {
		return r
	}
	return new(big.Rat)
}
