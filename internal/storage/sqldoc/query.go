package sqldoc

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// builder writes a statement and collects its parameters.
type builder struct {
	strings.Builder
	args []any
}

// parameter appends a value and writes its placeholder.
func (b *builder) parameter(v any) {
	b.args = append(b.args, v)
	b.WriteString("$" + strconv.Itoa(len(b.args)))
}

func listStatement(t *store.Table, tenant string, q store.Query) *builder {
	b, from := new(builder), selectFrom(t)
	if q.Bare {
		from = bareFrom(t)
	}
	if b.each(t, tenant, q.Where, "found.*", from) {
		b.order(q.Order)
		b.page(q.Limit, q.Offset)
		return b
	}
	b.WriteString(from)
	if q.Offset > 0 {
		b.found(t, tenant, q)
		return b
	}
	b.where(t, tenant, q.Where)
	b.order(q.Order)
	b.page(q.Limit, q.Offset)
	return b
}

// found selects the ids of the page first, so that skipped rows are read from an index
// only. The page's rows are then ordered by expressions: with plain columns the engine
// might walk an index of that order from its end to find them.
func (b *builder) found(t *store.Table, tenant string, q store.Query) {
	b.WriteString(" WHERE tenant = ")
	b.parameter(tenant)
	b.WriteString(" AND id IN (SELECT id FROM " + t.Name)
	b.where(t, tenant, q.Where)
	b.order(q.Order)
	b.page(q.Limit, q.Offset)
	b.WriteString(")")
	b.order(sorted(t, q.Order))
}

// sorted returns the orders as expressions that no index serves. They must be of numbers;
// the product has no other order but by id.
func sorted(t *store.Table, orders []store.Order) []store.Order {
	orders = slices.Clone(orders)
	for i, o := range orders {
		if slices.Contains(t.Columns, store.Column{Name: o.Column, Integer: true}) {
			orders[i].Column = "+" + o.Column
		}
	}
	return orders
}

// count counts a list, from its counted ranges if there are any.
func (c *Conn) count(t *store.Table, tenant string, q store.Query) *builder {
	counted := c.dialect.Counted[t]
	if of, ok := counted.list(q); ok {
		return counted.total(tenant, of)
	}
	return countStatement(t, tenant, q)
}

func countStatement(t *store.Table, tenant string, q store.Query) *builder {
	b := new(builder)
	if b.each(t, tenant, q.Where, "COUNT(*)", "SELECT 1 FROM "+t.Name) {
		return b
	}
	b.WriteString("SELECT COUNT(*) FROM " + t.Name)
	b.where(t, tenant, q.Where)
	return b
}

// distinctStatement steps from each value to the next greater one, so that its cost grows
// with the number of values and not with the number of rows.
func distinctStatement(t *store.Table, tenant, column string) *builder {
	b := &builder{args: []any{tenant}}
	least := "SELECT MIN(" + column + ") FROM " + t.Name + " WHERE tenant = $1"
	b.steps(least, least+" AND "+column+" > found.value")
	return b
}

// tenantsStatement steps in the same way from each tenant to the next.
func tenantsStatement(t *store.Table) *builder {
	b := new(builder)
	least := "SELECT MIN(tenant) FROM " + t.Name
	b.steps(least, least+" WHERE tenant > found.value")
	return b
}

// steps collects a first value and each next one, until there is none.
func (b *builder) steps(first, next string) {
	b.WriteString("WITH RECURSIVE found(value) AS (" + first +
		" UNION ALL SELECT (" + next + ") FROM found WHERE found.value IS NOT NULL)" +
		" SELECT value FROM found WHERE value IS NOT NULL ORDER BY value")
}

func (b *builder) where(t *store.Table, tenant string, filters []store.Filter) {
	b.WriteString(" WHERE tenant = ")
	b.parameter(tenant)
	for _, f := range filters {
		b.WriteString(" AND ")
		b.filter(f)
		if slices.Contains(t.Columns, store.Column{Name: f.Column, Sparse: true}) {
			b.WriteString(" AND " + f.Column + " <> ''") // as its index says
		}
	}
}

func (b *builder) filter(f store.Filter) {
	switch {
	case len(f.Values) == 0:
		b.WriteString("1 = 0")
	case f.Op == store.In && len(f.Values) > 1:
		b.in(f)
	case isIDs(f):
		b.WriteString("id = given.wanted")
	default:
		b.WriteString(f.Column + comparison[f.Op])
		b.parameter(f.Values[0])
	}
}

// comparison with a single value. Equality rather than IN lets an index give the
// order as well.
var comparison = [...]string{store.In: " = ", store.AtLeast: " >= ", store.AtMost: " <= "}

func (b *builder) in(f store.Filter) {
	b.WriteString(f.Column + " IN (")
	for i, v := range f.Values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.parameter(v)
	}
	b.WriteString(")")
}

// order ends with id, so that no two rows are equal and pages never overlap.
func (b *builder) order(orders []store.Order) {
	b.WriteString(" ORDER BY ")
	last := store.Order{}
	for _, o := range orders {
		last = o
		b.WriteString(o.Column + direction(o) + ", ")
	}
	b.WriteString("id" + direction(last))
}

func direction(o store.Order) string {
	if o.Descending {
		return " DESC"
	}
	return ""
}

func (b *builder) page(limit, offset int) {
	if limit == 0 && offset == 0 {
		return
	}
	if limit == 0 {
		limit = math.MaxInt // SQLite has no OFFSET without LIMIT
	}
	// A bare parameter as the limit makes SQLite parse the statement anew each
	// time; an expression doesn't. PostgreSQL takes the type of a parameter from
	// its expression.
	b.WriteString(" LIMIT CAST(")
	b.parameter(int64(limit))
	b.WriteString(" AS BIGINT) OFFSET CAST(")
	b.parameter(int64(offset))
	b.WriteString(" AS BIGINT)")
}
