package sqldoc

import (
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// ids are those of a filter that are one parameter, each once.
type ids []string

func idsOf(values []any) ids {
	all := make(ids, len(values))
	for i, v := range values {
		all[i] = v.(string)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func isIDs(f store.Filter) bool {
	if len(f.Values) != 1 {
		return false
	}
	_, is := f.Values[0].(ids)
	return is
}

// each selects the rows of ids that are one parameter; false if there is no such filter. The
// statement is the same for any number of them, and each row is found by itself, which the LIMIT
// sees to: a planner that knows neither the parameters nor how large the table has become would
// rather walk all of a tenant's rows in their order, and compare each with hundreds of ids.
func (b *builder) each(t *store.Table, tenant string, where []store.Filter, what, from string) bool {
	at := slices.IndexFunc(where, isIDs)
	if at < 0 {
		return false
	}
	b.WriteString("SELECT " + what + " FROM unnest(CAST(")
	b.parameter([]string(where[at].Values[0].(ids)))
	b.WriteString(" AS text[])) AS given (wanted), LATERAL (" + from)
	b.where(t, tenant, where)
	b.WriteString(" LIMIT 1) AS found")
	return true
}
