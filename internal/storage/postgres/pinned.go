package postgres

import (
	"maps"
	"slices"
	"strings"
)

// pinned are the planner's settings in a batch. Each statement finds its rows by an index,
// so its plan needn't be chosen anew for each batch, and must not be one for the small table
// that the planner last knew: a table that it takes for empty it would read as a whole, or
// hash. A plan that uses what is off costs so much that the planner would compile it; so
// that is off too.
var pinned = map[string]string{
	"plan_cache_mode": "force_generic_plan", "jit": "off",
	"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
}

// pins are those of the pinned settings that the server knows: not each database that speaks
// PostgreSQL's language has them.
func (s *session) pins() (known locals, err error) {
	names := slices.Sorted(maps.Keys(pinned))
	row, err := s.run("SELECT COALESCE(string_agg(name, ','), '') FROM pg_settings WHERE name IN ('" + strings.Join(names, "', '") + "')")
	if err != nil || len(row) == 0 || row[0] == "" {
		return nil, err
	}
	for name := range strings.SplitSeq(row[0], ",") {
		known = append(known, [2]string{name, pinned[name]})
	}
	return known, nil
}
