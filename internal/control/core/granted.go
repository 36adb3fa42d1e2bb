package core

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
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

// WithinModes limits a token, or an identity, to the modes of its maker's token.
func WithinModes(a Actor, asked []string) ([]string, error) {
	if asked == nil {
		return a.Modes, nil
	}
	for _, mode := range asked {
		if err := access.Mode(a.Principal, mode); err != nil {
			return nil, err
		}
	}
	return asked, nil
}
