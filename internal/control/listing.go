package control

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/agents"
	"github.com/countersign/countersign/internal/control/approvals"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/projects"
	"github.com/countersign/countersign/internal/control/runs"
)

// ListAgents is Agents of what show makes of each.
func ListAgents[T any](ctx context.Context, s *Service, a core.Actor, l core.List, f agents.AgentFilter, show func(countersign.Agent) (T, error)) (countersign.Page[T], error) {
	return agents.ListAgents(ctx, s.AgentService, a, l, f, show)
}

// ListApprovals is Approvals of what show makes of each: one may have three mebibytes, and few
// are in memory at a time.
func ListApprovals[T any](ctx context.Context, s *Service, a core.Actor, l core.List, f approvals.ApprovalFilter, show func(countersign.Approval) (T, error)) (countersign.Page[T], error) {
	return approvals.ListApprovals(ctx, s.ApprovalService, a, l, f, show)
}

// ListPlans is Plans of what show makes of each: a page has up to 200 plans of a
// mebibyte, of which few are in memory at a time.
func ListPlans[T any](ctx context.Context, s *Service, a core.Actor, l core.List, f plans.PlanFilter, show func(countersign.Plan) (T, error)) (countersign.Page[T], error) {
	return plans.ListPlans(ctx, s.PlanService, a, l, f, show)
}

// ListProjects is Projects of what show makes of each: a page has up to 200 of a mebibyte, of
// which one is in memory at a time.
func ListProjects[T any](ctx context.Context, s *Service, a core.Actor, l core.List, show func(countersign.Project) (T, error)) (countersign.Page[T], error) {
	return projects.ListProjects(ctx, s.ProjectService, a, l, show)
}

// ListRuns is Runs of what show makes of each: a run may have a hundred mebibytes, and
// is in memory alone.
func ListRuns[T any](ctx context.Context, s *Service, a core.Actor, l core.List, f runs.RunFilter, show func(countersign.Run) (T, error)) (countersign.Page[T], error) {
	return runs.ListRuns(ctx, s.RunService, a, l, f, show)
}

// ListTeams is Teams of what show makes of each.
func ListTeams[T any](ctx context.Context, s *Service, a core.Actor, l core.List, show func(countersign.Team) (T, error)) (countersign.Page[T], error) {
	return agents.ListTeams(ctx, s.TeamService, a, l, show)
}

// Named returns a record, or a page of records, with the name of each principal beside it: a
// member that names a principal has one of the same name with Name behind it. Names that are
// there stay, and what is given isn't changed, since records in memory are shared. If the store
// can't be read, it is returned without names: what was written stays so.
func Named[T any](ctx context.Context, s *Service, a core.Actor, v T) T {
	return names.Named(ctx, s.core, a, v)
}
