package sqlite

import (
	"cmp"
	"math"
	"slices"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// search is what a query asks of packs.
type search struct {
	where       []store.Filter
	first, last int64 // sequence numbers
	from, to    int64 // times
	columns     []columnValues
	decided     bool // these say which records match, but for times within a pack
}

// columnValues are the values that a column of pack.Texts may have.
type columnValues struct {
	column int
	values []string
}

func newSearch(where []store.Filter) search {
	s := search{where: where, last: pack.MostSeq, from: math.MinInt64, to: math.MaxInt64, decided: true}
	for _, f := range where {
		switch column := slices.Index(pack.Texts[:], f.Column); {
		case len(f.Values) == 0:
			s.last = -1
		case column >= 0 && f.Op == store.In:
			s.columns = append(s.columns, valuesOf(column, f))
		case f.Column == "id":
			s.narrow(f, &s.first, &s.last, seqFrom, seqUpTo)
		case f.Column == "seq":
			s.narrow(f, &s.first, &s.last, asItIs, asItIs)
		case f.Column == "at":
			s.narrow(f, &s.from, &s.to, asItIs, asItIs)
		default:
			s.decided = false
		}
	}
	return s
}

func valuesOf(column int, f store.Filter) columnValues {
	c := columnValues{column: column}
	for _, v := range f.Values {
		c.values = append(c.values, v.(string))
	}
	slices.Sort(c.values)
	c.values = slices.Compact(c.values)
	return c
}

// narrow makes a range smaller by what a filter lets through. Several values let more through
// than the range between them does not.
func (s *search) narrow(f store.Filter, first, last *int64, from, upTo func(any) int64) {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range f.Values {
		least, most = min(least, from(v)), max(most, upTo(v))
	}
	if f.Op != store.AtMost {
		*first = max(*first, least)
	}
	if f.Op != store.AtLeast {
		*last = min(*last, most)
	}
	s.decided = s.decided && len(f.Values) == 1
}

func asItIs(v any) int64 { return v.(int64) }

// seqFrom is the least sequence number with an id that is not before one.
func seqFrom(id any) int64 { return least(func(of string) bool { return of >= id.(string) }) }

// seqUpTo is the greatest with an id that is not after one, -1 for none.
func seqUpTo(id any) int64 { return least(func(of string) bool { return of > id.(string) }) - 1 }

// least is the least sequence number with an id from which on something holds.
func least(holds func(id string) bool) int64 {
	from, to := int64(0), int64(pack.MostSeq+1)
	for from < to {
		if middle := (from + to) / 2; holds(pack.ID(middle)) {
			to = middle
		} else {
			from = middle + 1
		}
	}
	return from
}

// timed reports whether it asks for times.
func (s *search) timed() bool { return s.from > math.MinInt64 || s.to < math.MaxInt64 }

// block is what a search finds in a pack: all the records at these places if it is decided,
// else some of them.
type block struct {
	first   int64
	places  pack.Set
	decided bool
}

// blocks finds the packs with records of a search, in the order of their sequence numbers or,
// descending, the last one first.
type blocks struct {
	search
	tx         *sqldoc.Tx
	tenant     string
	descending bool
	groups     [][]*cursor // a pack must be in one of each
	spans      *cursor     // of all packs; nil: what they hold isn't asked
	borders    bool        // not of those that have only the times asked for
	next       int64       // where the next pack may begin
	head       *block
	ended      bool
}

func newBlocks(tx *sqldoc.Tx, tenant string, s search, descending bool) *blocks {
	b := &blocks{search: s, tx: tx, tenant: tenant, descending: descending, next: max(s.first-pack.Most+1, 0)}
	if descending {
		b.next = s.last
	}
	for _, c := range s.columns {
		var group []*cursor
		for _, value := range c.values {
			group = append(group, b.cursor(b.postings(c.column, value)))
		}
		b.groups = append(b.groups, group)
	}
	if len(b.groups) == 0 || s.timed() {
		b.spans = b.cursor(b.all)
		b.groups = append(b.groups, []*cursor{b.spans})
	}
	return b
}

func (b *blocks) cursor(load func(from int64, limit int) ([]span, error)) *cursor {
	return &cursor{load: load, descending: b.descending, limit: 16}
}

// peek is the next block, nil after the last one.
func (b *blocks) peek() (*block, error) {
	for b.head == nil && !b.ended {
		if err := b.advance(); err != nil {
			return nil, err
		}
	}
	return b.head, nil
}

func (b *blocks) pop() { b.head = nil }

// advance finds the next pack that is in all groups.
func (b *blocks) advance() error {
	at, agree := b.next, false
	for !agree {
		agree = true
		for _, group := range b.groups {
			nearest, err := nearest(group, at, b.descending)
			if err != nil {
				return err
			}
			if nearest == nil {
				b.ended = true
				return nil
			}
			if *nearest != at {
				at, agree = *nearest, false
			}
		}
	}
	if b.next = at + 1; b.descending {
		b.next = at - 1
	}
	b.ended = at > b.last || at+pack.Most <= b.first || b.next < 0
	if at > b.last || at+pack.Most <= b.first {
		return nil
	}
	return b.combine(at)
}

// combine makes the block of a pack, if there is anything in it.
func (b *blocks) combine(at int64) error {
	found := block{first: at, places: pack.First(pack.Most), decided: b.decided}
	for _, group := range b.groups {
		var any pack.Set
		for _, c := range group {
			if s := c.head(at); s != nil {
				any = any.Or(s.places)
			}
		}
		found.places = found.places.And(any)
	}
	if b.spans != nil {
		s := b.spans.head(at)
		found.decided = found.decided && b.from <= s.earliest && s.latest <= b.to
	}
	found.places = found.places.Without(pack.First(clamp(b.first - at)))
	found.places = found.places.And(pack.First(clamp(b.last - at + 1)))
	if found.places.Len() > 0 {
		b.head = &found
	}
	return nil
}

func clamp(n int64) int { return int(min(max(n, 0), pack.Most)) }

// span is a pack, or where in it a value occurs.
type span struct {
	first            int64
	places           pack.Set
	earliest, latest int64 // of a pack
}

// cursor goes through the packs in which something occurs, in their order.
type cursor struct {
	load       func(from int64, limit int) ([]span, error)
	descending bool
	limit      int // of the next load
	buffer     []span
	from       int64 // where the next load may begin
	begun      bool
	ended      bool // no more can be loaded
}

// to skips what is before a place, and returns what is next; nil at the end.
func (c *cursor) to(place int64) (*span, error) {
	for {
		for len(c.buffer) > 0 && before(c.buffer[0].first, place, c.descending) {
			c.buffer = c.buffer[1:]
		}
		if len(c.buffer) > 0 {
			return &c.buffer[0], nil
		}
		if c.ended {
			return nil, nil
		}
		if c.begun && before(place, c.from, c.descending) {
			place = c.from
		}
		loaded, err := c.load(place, c.limit)
		if err != nil {
			return nil, err
		}
		c.begun, c.ended, c.buffer = true, len(loaded) < c.limit, loaded
		if n := len(loaded); n > 0 {
			if c.from = loaded[n-1].first + 1; c.descending {
				c.from = loaded[n-1].first - 1
			}
		}
		c.limit = min(2*c.limit, 1024)
	}
}

// head is what it is at, if that is the pack.
func (c *cursor) head(first int64) *span {
	if len(c.buffer) > 0 && c.buffer[0].first == first {
		return &c.buffer[0]
	}
	return nil
}

func before[T cmp.Ordered](a, b T, descending bool) bool {
	if descending {
		return a > b
	}
	return a < b
}

// nearest is the first pack, not before a place, in which one of several occurs; nil if there
// is none.
func nearest(group []*cursor, place int64, descending bool) (first *int64, err error) {
	for _, c := range group {
		s, err := c.to(place)
		if err != nil {
			return nil, err
		}
		if s != nil && (first == nil || before(s.first, *first, descending)) {
			first = &s.first
		}
	}
	return first, nil
}

// inOrder completes a query for a cursor.
func (b *blocks) inOrder(query string) string {
	if b.descending {
		return query + " AND first <= $2 ORDER BY first DESC LIMIT CAST($3 AS BIGINT)"
	}
	return query + " AND first >= $2 ORDER BY first LIMIT CAST($3 AS BIGINT)"
}

// all finds the packs with records of the times asked for.
func (b *blocks) all(from int64, limit int) (found []span, err error) {
	query, args := "SELECT first, n, earliest, latest FROM audit_packs WHERE tenant = $1", []any{b.tenant, from, limit}
	if b.timed() {
		query, args = query+" AND latest >= $4 AND earliest <= $5", append(args, b.from, b.to)
	}
	if b.borders {
		query += " AND NOT (earliest >= $4 AND latest <= $5)"
	}
	err = b.tx.Each(b.inOrder(query), args, func(scan func(...any) error) error {
		s, n := span{}, int64(0)
		err := scan(&s.first, &n, &s.earliest, &s.latest)
		s.places = pack.First(clamp(n))
		found = append(found, s)
		return err
	})
	return found, err
}

// postings finds the packs in which a column has a value.
func (b *blocks) postings(column int, value string) func(from int64, limit int) ([]span, error) {
	query := b.inOrder("SELECT first, places FROM audit_postings WHERE tenant = $1 AND of = $4 AND value = $5")
	return func(from int64, limit int) (found []span, err error) {
		var damage error
		err = b.tx.Each(query, []any{b.tenant, from, limit, column + 1, value}, func(scan func(...any) error) error {
			var s span
			var places []byte
			if err := scan(&s.first, &places); err != nil {
				return err
			}
			if s.places, err = pack.ParsePlaces(places); err != nil && damage == nil {
				damage = pack.Damaged(b.tenant, s.first, 1, err)
			}
			found = append(found, s)
			return nil
		})
		if err == nil {
			err = damage
		}
		return found, err
	}
}
