package sqlite

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/countersign/countersign/internal/storage/pack"
)

// sum is a statement that counts what a search finds, or of a search for times what it finds
// in packs that have no other times; ok is false if no statement can. SQLite adds up ten packs
// in the time in which it hands one over.
func (s *search) sum(tenant string) (query string, args []any, ok bool) {
	whole := s.first <= 0 && s.last >= pack.MostSeq
	switch {
	case !s.decided:
		return "", nil, false
	case len(s.columns) == 0:
		query = "SELECT COALESCE(SUM(MIN(first + n - 1, $3) - MAX(first, $2) + 1), 0) FROM audit_packs WHERE tenant = $1 AND first BETWEEN $2 - $4 AND $3 AND first + n > $2"
		args = []any{tenant, s.first, s.last, pack.Most}
		if s.timed() {
			query, args = query+" AND earliest >= $5 AND latest <= $6", append(args, s.from, s.to)
		}
		return query, args, true
	case !whole || slices.ContainsFunc(s.columns, func(c columnValues) bool { return len(c.values) != 1 }):
		return "", nil, false
	}
	query, args = s.sumOfPostings(tenant)
	return query, args, true
}

// sumOfPostings goes through the packs with a value of the last column, since fewest have one
// subject and most have one actor.
func (s *search) sumOfPostings(tenant string) (query string, args []any) {
	args = []any{tenant, s.from, s.to}
	var places, from, where []string
	for _, c := range slices.Backward(s.columns) {
		p := fmt.Sprint("p", len(places))
		places, from = append(places, p+".places"), append(from, "audit_postings AS "+p)
		args = append(args, c.column+1, c.values[0])
		where = append(where, fmt.Sprintf("%[1]s.tenant = $1 AND %[1]s.of = $%[2]d AND %[1]s.value = $%[3]d AND %[1]s.first = p0.first", p, len(args)-1, len(args)))
	}
	if s.timed() {
		from = append(from, "audit_packs AS pack INDEXED BY audit_packs_span")
		where = append(where, "pack.tenant = $1 AND pack.first = p0.first AND pack.earliest >= $2 AND pack.latest <= $3")
	}
	count := "length(p0.places)"
	if len(places) > 1 {
		count = "common_places(" + strings.Join(places, ", ") + ")"
	}
	if len(places) == 2 { // most packs have one actor, and need no call
		count = fmt.Sprintf("CASE %d WHEN length(p0.places) THEN length(p1.places) WHEN length(p1.places) THEN length(p0.places) ELSE %s END", pack.Most, count)
	}
	return "SELECT COALESCE(SUM(" + count + "), 0) FROM " + strings.Join(from, " CROSS JOIN ") + " WHERE " + strings.Join(where, " AND "), args
}

func init() {
	sqlite.MustRegisterDeterministicScalarFunction("common_places", -1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		return commonPlaces(args)
	})
}

// commonPlaces counts the places that are in all sets.
func commonPlaces(sets []driver.Value) (int64, error) {
	common := pack.First(pack.Most)
	for _, stored := range sets {
		places, _ := stored.([]byte)
		set, err := pack.ParsePlaces(places)
		if err != nil {
			return 0, err
		}
		common = common.And(set)
	}
	return int64(common.Len()), nil
}
