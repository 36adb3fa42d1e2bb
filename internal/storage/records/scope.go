package records

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// Scope is the set of a document's projects as one listable string. Commas are
// no id characters.
func Scope(projects []string) string {
	sorted := slices.Clone(projects)
	slices.Sort(sorted)
	return strings.Join(slices.Compact(sorted), ",")
}

// ProjectsIn are the projects of a scope.
func ProjectsIn(scope string) []string {
	if scope == "" {
		return nil
	}
	return strings.Split(scope, ",")
}

// planScope is the scope of a plan: all its projects.
func planScope(p *countersign.Plan) string { return Scope(ProjectsOf(p)) }

// ProjectsOf lists the projects that a plan was made from.
func ProjectsOf(p *countersign.Plan) []string {
	ids := make([]string, len(p.Projects))
	for i, ref := range p.Projects {
		ids[i] = ref.ID
	}
	return ids
}

// InScope narrows a listing to what the principal may see: the documents whose
// projects all lie within its own. A tenant has few different scopes, so they
// are listed and judged here rather than for each document. An agent token sees its
// agents' own runs, and of everything else nothing.
func InScope(tx store.Tx, t *store.Table, p access.Principal) ([]store.Filter, error) {
	if p.ForAgents() {
		return []store.Filter{ofAgents(t, p.Agents)}, nil
	}
	if !p.Limited() {
		return nil, nil
	}
	all, err := tx.Distinct(t, p.Tenant, "scope")
	if err != nil {
		return nil, err
	}
	f := store.Filter{Column: "scope", Op: store.In}
	for _, s := range all {
		if p.Covers(ProjectsIn(s)...) {
			f.Values = append(f.Values, s)
		}
	}
	return []store.Filter{f}, nil
}

func ofAgents(t *store.Table, agents []string) store.Filter {
	if t != store.Runs {
		return store.Filter{Column: "id", Op: store.In} // no value: none
	}
	f := store.Filter{Column: "agent", Op: store.In}
	for _, id := range agents {
		f.Values = append(f.Values, id)
	}
	return f
}
