package core

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// guarding are the roles that decide what is let out, or who decides it.
var guarding = []countersign.Role{countersign.RoleAdmin, countersign.RoleApprover}

// Granted are the fields of a user or token by which a change gives new rights over the gate: ADMIN or APPROVER, or
// more projects for one of them.
func Granted(before []countersign.Role, projectsBefore []string, now []countersign.Role, projects []string) (fields []string) {
	holds := false
	for _, role := range guarding {
		if !slices.Contains(now, role) {
			continue
		}
		if !slices.Contains(before, role) {
			return []string{"roles"}
		}
		holds = true
	}
	if holds && widensProjects(projectsBefore, projects) {
		return []string{"projectIds"}
	}
	return nil
}

func widensProjects(before, now []string) bool {
	if now == nil || before == nil {
		return before != nil
	}
	return slices.ContainsFunc(now, func(id string) bool { return !slices.Contains(before, id) })
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
