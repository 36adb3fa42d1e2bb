package runrepo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
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
	known   knownSpending
	version int64
	tallies []tally   // of known.budgets; those that measure the same share the first one's
	now     time.Time // never before the latest entry, whatever the clock says
	changed bool
}

// knownSpending is a record as this process has read or written it last, and what is made of
// its texts. It is immutable: each step of a capability asks for it, and nobody else writes
// it, unless another replica does.
type knownSpending struct {
	stamp   cache.Stamp
	record  records.Spending
	sums    []budget.Decimal // of its tallies
	parts   []knownPart      // in which their tails stand, as far as they have been read
	budgets []measured       // as they were at the last step
	// firstEnds is the time of the newest entry of the first part; zero: nobody has looked.
	firstEnds time.Time
}

// knownPart is a part with its number. The record that was committed with it tells it from
// another one of this number.
type knownPart struct {
	n int64
	*records.SpentPart
}

// measured is a budget with what it measures. Budgets that measure the same share a tally.
type measured struct {
	countersign.Budget
	key    string
	window time.Duration
	most   *budget.Decimal
	tally  int // the first budget with this key
}

// tally is a records.Tally with its sum as a number.
type tally struct {
	records.Tally
	sum budget.Decimal
}

// spendingPlace is where a record stands.
type spendingPlace struct{ tenant, id string }

// rememberedSpendings bounds the cache of them.
const rememberedSpendings = 1024

// measure gives the budgets with what they measure, which was are if they are the same.
func measure(budgets []countersign.Budget, was []measured) []measured {
	if slices.EqualFunc(budgets, was, func(b countersign.Budget, m measured) bool { return b == m.Budget }) {
		return was
	}
	out := make([]measured, len(budgets))
	for i, b := range budgets {
		out[i] = measured{b, budget.Key(b), b.Duration(), budget.Most(b), i}
		if first := slices.IndexFunc(out[:i], func(m measured) bool { return m.key == out[i].key }); first >= 0 {
			out[i].tally = first
		}
	}
	return out
}

func (l *Repository) loadSpending(tx store.Tx, tenant, id string, budgets []countersign.Budget, now time.Time) (_ *spending, err error) {
	// What is remembered is compared as what is stored: without the process's own clock.
	s := &spending{tx: tx, tenant: tenant, id: id, now: now.Round(0)}
	if err := s.read(l); err != nil {
		return nil, err
	}
	wasAhead := s.now.Before(s.known.record.LastAt.Add(-clockSkew))
	switch {
	case wasAhead:
		s.clockBack()
	case s.now.Before(s.known.record.LastAt):
		s.now = s.known.record.LastAt
	}
	s.known.budgets = measure(budgets, s.known.budgets)
	s.tallies = make([]tally, len(budgets))
	differ := 0
	for i, b := range s.known.budgets {
		if b.tally != i {
			continue
		}
		differ++
		t, known := s.known.tally(b.key)
		was := t
		if known && wasAhead {
			if t, err = s.moveBack(b, t); err != nil {
				return nil, err
			}
		}
		moved, err := s.move(b, t, known)
		if err != nil {
			return nil, err
		}
		s.tallies[i] = moved
		s.changed = s.changed || !known || moved.Tally != was.Tally
	}
	s.changed = s.changed || differ != len(s.known.sums)
	return s, nil
}

// clockSkew is how far the clocks of processes that use one store may differ, or one may be
// corrected: within it the later time holds.
const clockSkew = 5 * time.Second

// maxBack bounds the turns of the clock that are remembered. What is forgotten of the oldest
// makes its entries count longer, and none shorter.
const maxBack = 16

// clockBack notes that the clock was ahead when something was counted last. When what was sent
// meanwhile was sent, nobody knows: by now, it was.
func (s *spending) clockBack() {
	r := &s.known.record
	back := slices.DeleteFunc(slices.Clone(r.Back), func(c records.ClockBack) bool {
		return !c.At.Before(s.now) || c.At.Before(s.now.Add(-records.SpentLife))
	})
	back = append(back, records.ClockBack{Before: r.Next, At: s.now})
	r.Back, r.LastAt, s.changed = back[max(0, len(back)-maxBack):], s.now, true
	s.known.firstEnds = time.Time{}
}

// moveBack counts again what left the window while the clock was ahead.
func (s *spending) moveBack(b measured, t tally) (tally, error) {
	for t.Tail > s.known.record.First*records.SpentPerPart {
		e, err := s.entry(t.Tail - 1)
		if err != nil {
			return t, err
		}
		if !s.within(b, e.At) {
			break
		}
		t.Tail--
		if !e.Void {
			t = t.with(amount(e, b.Sum), 1)
		}
	}
	t.At = time.Time{}
	if t.Tail < s.known.record.Next {
		e, err := s.entry(t.Tail)
		if err != nil {
			return t, err
		}
		t.At = e.At
	}
	return t, nil
}

// with is the tally with one more amount, or one less.
func (t tally) with(a budget.Amount, n int64) tally {
	t.Count += n
	if a.Beyond {
		t.Beyond += n
	}
	if n > 0 {
		t.sum = t.sum.Add(a.Value)
	} else {
		t.sum = t.sum.Sub(a.Value)
	}
	t.Sum = t.sum.Text()
	return t
}

// tally gives the tally of a key, false if there is none.
func (k *knownSpending) tally(key string) (t tally, known bool) {
	i := slices.IndexFunc(k.record.Tallies, func(t records.Tally) bool { return t.Key == key })
	if i < 0 {
		return tally{Tally: records.Tally{Key: key}}, false
	}
	return tally{k.record.Tallies[i], k.sums[i]}, true
}

// read reads the record in the transaction, and decodes it unless this very document was
// read or written before.
func (s *spending) read(l *Repository) error {
	row, err := store.Look(s.tx, store.Meta, s.tenant, s.id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.version = row.Version
	stamp, place := cache.StampOf(s.tenant, s.id, row.Version, row.Doc), spendingPlace{s.tenant, s.id}
	if known, ok := l.spendings.Get(place); ok && known.stamp == stamp {
		s.known = *known
		return nil
	}
	if s.known, err = decodeSpending(row); err == nil {
		s.remember(l, stamp)
	}
	return err
}

// remember keeps what is known of a document, in place of what was known of another.
func (s *spending) remember(l *Repository, of cache.Stamp) {
	known := s.known
	known.stamp = of
	l.spendings.Put(spendingPlace{s.tenant, s.id}, &known)
}

func decodeSpending(row store.Row) (known knownSpending, err error) {
	if err := records.Decode(row, &known.record); err != nil {
		return known, err
	}
	for _, t := range known.record.Tallies {
		known.sums = append(known.sums, budget.ParseDecimal(t.Sum))
	}
	return known, nil
}

// move counts what is within a budget's window now.
func (s *spending) move(b measured, t tally, known bool) (tally, error) {
	if !known {
		return s.newTally(b)
	}
	next := s.known.record.Next
	if t.Tail < next && s.within(b, t.At) {
		return t, nil
	}
	t.At = time.Time{}
	for ; t.Tail < next; t.Tail++ {
		e, err := s.entry(t.Tail)
		if err != nil {
			return t, err
		}
		if s.within(b, e.At) {
			t.At = e.At
			break
		}
		if !e.Void {
			t = t.with(amount(e, b.Sum), -1)
		}
	}
	t.Sum = t.sum.Text()
	return t, nil
}

// newTally counts the entries of a window that nobody has counted yet, the newest first.
func (s *spending) newTally(b measured) (tally, error) {
	t := tally{Tally: records.Tally{Key: b.key, Tail: s.known.record.Next}}
	for t.Tail > s.known.record.First*records.SpentPerPart {
		e, err := s.entry(t.Tail - 1)
		if err != nil {
			return t, err
		}
		if !s.within(b, e.At) {
			break
		}
		t.Tail--
		t.At = e.At
		if !e.Void {
			t = t.with(amount(e, b.Sum), 1)
		}
	}
	t.Sum = t.sum.Text()
	return t, nil
}

func (s *spending) within(b measured, at time.Time) bool { return at.After(s.now.Add(-b.window)) }

// entry gives an entry, with the time at which it was sent at the latest.
func (s *spending) entry(n int64) (*records.Spent, error) {
	e, err := s.stored(n)
	if err != nil {
		return nil, err
	}
	if latest := s.latest(n); !latest.IsZero() && latest.Before(e.At) {
		corrected := *e
		corrected.At = latest
		return &corrected, nil
	}
	return e, nil
}

// latest is the time at which an entry was sent at the latest by what the clock turned out to
// be, zero if it was never set back.
func (s *spending) latest(n int64) time.Time {
	for _, c := range s.known.record.Back { // the earliest first, whose number is the lowest
		if n < c.Before {
			return c.At
		}
	}
	return time.Time{}
}

func (s *spending) stored(n int64) (*records.Spent, error) {
	if r := &s.known.record; n >= r.Next-int64(len(r.Open)) {
		e := new(records.Spent)
		if err := store.Decode([]byte(r.Open[n%records.SpentPerPart].Raw()), e); err != nil {
			return nil, fmt.Errorf("decode entry %d of %s: %w", n, s.id, err)
		}
		return e, nil
	}
	p, err := s.part(n / records.SpentPerPart)
	if err != nil {
		return nil, err
	}
	return &p.Entries[n%records.SpentPerPart], nil
}

func (s *spending) part(n int64) (*records.SpentPart, error) {
	for _, p := range s.known.parts {
		if p.n == n {
			return p.SpentPart, nil
		}
	}
	p, _, err := records.SpentParts.Get(s.tx, s.tenant, records.SpentPartID(s.id, n))
	if err == nil {
		s.known.parts = append(slices.Clip(s.known.parts), knownPart{n, p})
	}
	return p, err
}

// find gives the number of the entry of a step that was sent last at this time, -1 if it has
// none. Between two turns of the clock entries stand in the order of the times that it said, so a
// few parts are read however many there are: none is read one after the other in a transaction
// that others wait for.
func (s *spending) find(step string, sent time.Time) (int64, error) {
	low := s.known.record.First * records.SpentPerPart
	for _, c := range s.known.record.Back {
		if n, err := s.findBetween(low, c.Before, step, sent); n >= 0 || err != nil {
			return n, err
		}
		low = max(low, c.Before)
	}
	return s.findBetween(low, s.known.record.Next, step, sent)
}

// findBetween is find among entries between which the clock was not set back.
func (s *spending) findBetween(low, end int64, step string, sent time.Time) (int64, error) {
	high := end
	for low < high {
		middle := low + (high-low)/2
		e, err := s.stored(middle)
		if err != nil {
			return -1, err
		}
		if e.At.Before(sent) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	for n := low; n < end; n++ {
		e, err := s.stored(n)
		if err != nil || e.At.After(sent.Add(clockSkew)) {
			return -1, err
		}
		if e.Step == step && !e.Void {
			return n, nil
		}
	}
	return -1, nil
}

// void takes an entry out of what counts: its step is sent again, and counts there, or never left.
func (s *spending) void(n int64) error {
	e, err := s.stored(n)
	if err != nil {
		return err
	}
	gone := *e
	gone.Void = true
	for i, b := range s.known.budgets {
		if b.tally == i && n >= s.tallies[i].Tail {
			s.tallies[i] = s.tallies[i].with(amount(e, b.Sum), -1)
		}
	}
	s.changed = true
	r := &s.known.record
	if n >= r.Next-int64(len(r.Open)) {
		r.Open = slices.Clone(r.Open)
		r.Open[n%records.SpentPerPart] = gone.Encode()
		return nil
	}
	return s.voidInPart(n, gone)
}

func (s *spending) voidInPart(n int64, gone records.Spent) error {
	at := n / records.SpentPerPart
	id := records.SpentPartID(s.id, at)
	p, version, err := records.SpentParts.Get(s.tx, s.tenant, id)
	if err != nil {
		return err
	}
	changed := records.SpentPart{Entries: slices.Clone(p.Entries)}
	changed.Entries[n%records.SpentPerPart] = gone
	if _, err := records.SpentParts.Put(s.tx, s.tenant, id, &changed, version); err != nil {
		return err
	}
	s.known.parts = slices.DeleteFunc(slices.Clone(s.known.parts), func(k knownPart) bool { return k.n == at })
	return nil
}

// used says of each budget what was used of it. own is the number of the entry of the step
// that is judged, -1 for none.
func (s *spending) used(declared func(input string) bool, own int64) []budget.Used {
	out := make([]budget.Used, len(s.known.budgets))
	for i, b := range s.known.budgets {
		t := s.tallies[b.tally]
		out[i] = budget.Used{
			Budget: b.Budget, Most: b.most, Count: t.Count, Sum: t.sum, Beyond: t.Beyond,
			Own: own >= t.Tail && own >= 0, Declared: b.Sum != "" && declared(b.Sum),
		}
	}
	return out
}

// add counts a step that is sent now. It has no entry.
func (s *spending) add(step string, input map[string]countersign.Value, declared func(input string) bool) error {
	e := records.Spent{At: s.now, Step: step, Amounts: s.amounts(input, declared)}
	for i, b := range s.known.budgets {
		if b.tally == i {
			s.tallies[i] = s.tallies[i].plus(e.At, input[b.Sum], s.known.record.Next)
		}
	}
	r := &s.known.record
	r.Open = append(slices.Clip(r.Open), e.Encode()) // a copy: others may have the list
	r.Next++
	r.LastAt, s.changed = s.now, true
	if len(r.Open) < records.SpentPerPart {
		return nil
	}
	id := records.SpentPartID(s.id, r.Next/records.SpentPerPart-1)
	if err := records.PutSpentPart(s.tx, s.tenant, id, r.Open); err != nil {
		return err
	}
	r.Open = nil
	return s.forget()
}

// plus is the tally with one more entry, the one that is next.
func (t tally) plus(at time.Time, added countersign.Value, next int64) tally {
	if t.Tail == next {
		t.At = at
	}
	t.Count++
	a := budget.AmountOf(added)
	if a.Beyond {
		t.Beyond++
	}
	if a.Value.Sign() != 0 {
		t.sum = t.sum.Add(a.Value)
		t.Sum = t.sum.Text()
	}
	return t
}

// forget deletes the parts that nobody looks at any more, some at a time: with each part that
// is filled, more than one.
func (s *spending) forget() error {
	const most = 2
	oldest, r := s.now.Add(-records.SpentLife), &s.known.record
	for i := 0; i < most && (r.First+1)*records.SpentPerPart < r.Next; i++ {
		if s.known.firstEnds.After(oldest) {
			return nil
		}
		p, err := s.part(r.First)
		if err != nil {
			return err
		}
		last, err := s.entry(r.First*records.SpentPerPart + int64(len(p.Entries)) - 1)
		if err != nil {
			return err
		}
		if s.known.firstEnds = last.At; s.known.firstEnds.After(oldest) {
			return nil
		}
		if err := s.forgetSent(p); err != nil {
			return err
		}
		if err := records.SpentParts.Delete(s.tx, s.tenant, records.SpentPartID(s.id, r.First)); err != nil {
			return err
		}
		r.First++
		s.known.firstEnds = time.Time{}
	}
	return nil
}

// forgetSent deletes what releases before wrote beside the entries of a part.
func (s *spending) forgetSent(p *records.SpentPart) error {
	for _, e := range p.Entries {
		if e.Digest == "" {
			continue
		}
		if err := records.SentRequests.Delete(s.tx, s.tenant, records.SentRequestID(e.Digest, e.At, e.Step)); err != nil {
			return err
		}
	}
	return nil
}

// save writes the record. What is known of it is found by the very document, and so only if
// that is what was committed.
func (s *spending) save(l *Repository) error {
	if !s.changed {
		return nil
	}
	r := &s.known.record
	r.Tallies, s.known.sums = make(records.Tallies, 0, len(s.tallies)), make([]budget.Decimal, 0, len(s.tallies))
	for i, b := range s.known.budgets {
		if b.tally == i {
			at, _ := slices.BinarySearchFunc(r.Tallies, b.key, func(t records.Tally, key string) int { return strings.Compare(t.Key, key) })
			r.Tallies, s.known.sums = slices.Insert(r.Tallies, at, s.tallies[i].Tally), slices.Insert(s.known.sums, at, s.tallies[i].sum)
		}
	}
	if s.now.After(r.LastAt) {
		r.LastAt = s.now // a tally was moved on to it
	}
	s.known.parts = s.tails()
	doc, version, err := records.PutSpending(s.tx, s.tenant, s.id, r, s.version)
	if err == nil {
		s.remember(l, cache.StampOf(s.tenant, s.id, version, doc))
	}
	return err
}

// tails are the parts that have been read in which a tally's tail stands: the next steps move
// it on from there.
func (s *spending) tails() (out []knownPart) {
	for _, p := range s.known.parts {
		if slices.ContainsFunc(s.known.record.Tallies, func(t records.Tally) bool { return t.Tail/records.SpentPerPart == p.n }) {
			out = append(out, p)
		}
	}
	return out
}

// amounts are the values that a budget adds or may come to add.
func (s *spending) amounts(input map[string]countersign.Value, declared func(input string) bool) map[string]string {
	out := map[string]string{}
	keep := func(name string) {
		if _, kept := out[name]; kept {
			return
		}
		if v, given := input[name]; given && v.Kind() == countersign.KindNumber {
			if a := budget.AmountOf(v); a.Beyond {
				out[name] = records.SpentBeyond
			} else {
				out[name] = a.Value.Text()
			}
		}
	}
	for name := range input {
		if declared(name) {
			keep(name)
		}
	}
	for _, b := range s.known.budgets {
		keep(b.Sum)
	}
	return out
}

func amount(e *records.Spent, input string) budget.Amount {
	text := e.Amounts[input]
	return budget.Amount{Value: budget.ParseDecimal(text), Beyond: text == records.SpentBeyond}
}
