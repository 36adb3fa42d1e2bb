package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Lacks says what whoever has the session may not do of what the records ask for.
func Lacks(s *countersign.Session, records []*Record) (lacks []string) {
	for _, role := range []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator} {
		if !slices.Contains(s.Roles, role) {
			lacks = append(lacks, fmt.Sprintf("%s has not the role %s; apply needs ADMIN and OPERATOR", s.Principal, role))
		}
	}
	if s.Modes != nil && !slices.Contains(s.Modes, countersign.ModeLive) {
		lacks = append(lacks, fmt.Sprintf("%s is limited to %s; it changes nothing", s.Principal, strings.Join(s.Modes, ", ")))
	}
	for _, r := range records {
		id := r.projectID()
		switch {
		case len(lacks) >= countersign.MaxProblems:
			return lacks
		case id != "" && !countersign.OwnsProjectID(s.TenantID, id):
			lacks = append(lacks, fmt.Sprintf("%s: %s is of the tenant %s, whose projects begin with %s-", r.Name(), s.Principal, s.TenantID, s.TenantID))
		case id != "" && s.ProjectIDs != nil && !slices.Contains(s.ProjectIDs, id):
			lacks = append(lacks, fmt.Sprintf("%s: %s has not the project %s", r.Name(), s.Principal, id))
		case s.ProjectIDs != nil && (r.Kind == setting || r.Kind == group || r.Kind == webhook):
			lacks = append(lacks, fmt.Sprintf("%s: it needs all projects, and %s has some", r.Name(), s.Principal))
		}
	}
	return lacks
}
