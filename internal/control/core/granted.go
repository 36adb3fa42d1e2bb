package core

import (
	"slices"

	"github.com/countersign/countersign"
)

// GrantsApproval reports whether a change gives new rights to decide: the role APPROVER, or
// more projects for it.
func GrantsApproval(before []countersign.Role, projectsBefore []string, now []countersign.Role, projects []string) bool {
	if !slices.Contains(now, countersign.RoleApprover) {
		return false
	}
	if !slices.Contains(before, countersign.RoleApprover) {
		return true
	}
	if projects == nil || projectsBefore == nil {
		return projectsBefore != nil
	}
	return slices.ContainsFunc(projects, func(id string) bool { return !slices.Contains(projectsBefore, id) })
}
