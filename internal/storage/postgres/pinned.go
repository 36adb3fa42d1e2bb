package postgres

import (
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

// knownPins is the statements that set in a transaction those of the pinned settings that the
// server knows: not each database that speaks PostgreSQL's language has them.
func (s *session) knownPins() (statements string, err error) {
	names := make([]string, 0, len(pinned))
	for name := range pinned {
		names = append(names, name)
	}
	slices.Sort(names)
	known, err := s.run("SELECT COALESCE(string_agg(name, ','), '') FROM pg_settings WHERE name IN ('" + strings.Join(names, "', '") + "')")
	if err != nil || len(known) == 0 || known[0] == "" {
		return "", err
	}
	for name := range strings.SplitSeq(known[0], ",") {
		statements += "; SET LOCAL " + name + " = " + pinned[name]
	}
	return statements, nil
}
