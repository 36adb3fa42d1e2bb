package agents

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TeamService is the use cases of teams.
type TeamService struct {
	*core.Core
	plans *plans.PlanService
}

// NewTeams returns the use cases.
func NewTeams(c *core.Core, plans *plans.PlanService) *TeamService {
	return &TeamService{Core: c, plans: plans}
}

// Teams lists the teams within the actor's scope by id.
func (s *TeamService) Teams(ctx context.Context, a core.Actor, l core.List) (countersign.Page[countersign.Team], error) {
	return ListTeams(ctx, s, a, l, core.Whole)
}

// ListTeams is Teams of what show makes of each.
func ListTeams[T any](ctx context.Context, s *TeamService, a core.Actor, l core.List, show func(countersign.Team) (T, error)) (page countersign.Page[T], err error) {
	err = s.View(ctx, a, access.ReadTeams, func(tx store.Tx) error {
		where, err := records.InScope(tx, store.Teams, a.Principal)
		if err != nil {
			return err
		}
		show := names.WithNames(tx, a.Tenant, show)
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Teams, l, l.Query(nil, l.Current(where...)...), func(h *records.TeamHead) (shown T, err error) {
			t, err := shownTeam(tx, a, h)
			if err != nil {
				return shown, err
			}
			return show(t)
		})
		return err
	})
	return page, err
}

// Team reads one team.
func (s *TeamService) Team(ctx context.Context, a core.Actor, id string) (t countersign.Team, err error) {
	err = s.View(ctx, a, access.ReadTeams, func(tx store.Tx) error {
		head, _, err := reach.Team(tx, a, id)
		if err != nil {
			return err
		}
		t, err = shownTeam(tx, a, head)
		return err
	})
	return t, err
}

func shownTeam(tx store.Tx, a core.Actor, h *records.TeamHead) (countersign.Team, error) {
	t, err := reach.TeamOf(tx, a.Tenant, h)
	if err != nil {
		return t, err
	}
	err = core.MaskTeamFor(tx, a, &t)
	return t, err
}

// PutTeam creates a team or, with the present revision, updates it. A team needs at least
// two different ADMITTED agents with models, whose projects all lie within the actor's
// scope (specification 4, rule 3).
func (s *TeamService) PutTeam(ctx context.Context, a core.Actor, id string, w countersign.TeamWrite) (t countersign.Team, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return t, err
	}
	err = core.WhileMoved(func() error {
		t, err = s.putTeam(ctx, a, id, w)
		return err
	})
	return t, err
}

func (s *TeamService) putTeam(ctx context.Context, a core.Actor, id string, w countersign.TeamWrite) (t countersign.Team, err error) {
	subject := "team/" + id
	seen, problems, err := s.judgeTeam(ctx, a, countersign.Team{ID: id, Name: w.Name, Members: w.Members, Steps: w.Steps})
	if err != nil {
		return t, err
	}
	err = s.UpdateInTurn(ctx, a, access.WriteTeam, subject, func(tx store.Tx) error {
		head, version, err := reach.Team(tx, a, id)
		if countersign.ErrorCode(err) == countersign.CodeNotFound {
			head, version, err = &records.TeamHead{ID: id}, 0, nil
		}
		if err != nil {
			return err
		}
		team := countersign.Team{ID: id, Name: w.Name, Members: w.Members, Steps: w.Steps}
		executors, err := s.plans.ExecutorsOf(tx, a, &team)
		if err != nil {
			return err
		}
		if !plans.SameExecutors(seen, executors) {
			return core.ErrMoved
		}
		if err := core.Invalid(problems); err != nil {
			return err
		}
		if err := core.Compare("team", id, head.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		if head.Retired {
			return plan.Retired(plan.KindTeam, id)
		}
		if err := plans.RefuseRetired(executors); err != nil {
			return err
		}
		if err := plans.Admitted(executors); err != nil {
			return err
		}
		team.Steps = executors.GivenSteps()
		t, err = s.saveTeam(tx, a, access.WriteTeam, head, version, team, "")
		return err
	})
	return t, err
}

// judgeTeam checks a team by its members as they are. Whether the actor may reach them is for
// the turn to write to say.
func (s *TeamService) judgeTeam(ctx context.Context, a core.Actor, team countersign.Team) (seen plan.Executors, problems []string, err error) {
	if access.Allow(a.Principal, access.WriteTeam) != nil {
		return seen, nil, nil
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		seen, err = s.plans.ExecutorsOf(tx, a, &team)
		return err
	})
	if err != nil {
		return seen, nil, core.RefusedLater(err)
	}
	ids := make([]string, len(team.Steps))
	for i := range team.Steps {
		ids[i] = team.Steps[i].ID
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) { problems = append(plan.CheckIDs(ids), plan.CheckTeam(m, seen)...) })
	return seen, problems, err
}

// saveTeam makes a new revision of a team.
func (s *TeamService) saveTeam(tx store.Tx, a core.Actor, op access.Operation, head *records.TeamHead, version int64, t countersign.Team, reason string) (countersign.Team, error) {
	next := *head
	next.UpdatedAt = s.Config.Now()
	if head.Revision == 0 {
		next.CreatedAt = next.UpdatedAt
	}
	next.Revision++
	next.Suspended = head.Suspended || op == access.SuspendTeam
	next.Retired = head.Retired || op == access.RetireTeam
	projects, err := systemsOf(tx, a.Tenant, t.Members)
	if err != nil {
		return t, err
	}
	next.Projects = projects
	t.Revision, t.Suspended, t.Retired, t.CreatedAt, t.UpdatedAt = next.Revision, next.Suspended, next.Retired, next.CreatedAt, next.UpdatedAt
	if _, err := records.Teams.Put(tx, a.Tenant, t.ID, &next, version); err != nil {
		return t, err
	}
	if _, err := records.TeamRevisions.Put(tx, a.Tenant, records.RevisionID(t.ID, t.Revision), &t, 0); err != nil {
		return t, err
	}
	c := core.Change{Before: teamRevisionText(head), After: teamRevisionText(&next), Reason: reason}
	return t, s.Audit(tx, a, op, "team/"+t.ID, c)
}

// systemsOf are the projects of a team's members, which are its scope.
func systemsOf(tx store.Tx, tenant string, members []countersign.TeamMember) ([]string, error) {
	var projects []string
	for _, m := range members {
		head, _, err := records.Agents.Get(tx, tenant, m.AgentID)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(projects, head.ProjectID) {
			projects = append(projects, head.ProjectID)
		}
	}
	return projects, nil
}

// SuspendTeam raises the revision, so that no run of the team takes a further step, and
// refuses new runs.
func (s *TeamService) SuspendTeam(ctx context.Context, a core.Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.SuspendTeam, id, reason)
}

// ResumeTeam ends a suspension. It keeps the revision.
func (s *TeamService) ResumeTeam(ctx context.Context, a core.Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.ResumeTeam, id, reason)
}

func (s *TeamService) toggleTeam(ctx context.Context, a core.Actor, op access.Operation, id, reason string) (t countersign.Team, err error) {
	if err := core.Given("reason", reason); err != nil {
		return t, err
	}
	err = s.Update(ctx, a, op, "team/"+id, func(tx store.Tx) error {
		head, version, err := reach.Team(tx, a, id)
		if err != nil {
			return err
		}
		if t, err = reach.TeamOf(tx, a.Tenant, head); err != nil {
			return err
		}
		switch flag, set := core.FlagOf(op, &head.Suspended, &head.Retired); {
		case *flag == set:
			return nil
		case set:
			t, err = s.saveTeam(tx, a, op, head, version, t, reason)
			return err
		default:
			t, err = s.clearTeam(tx, a, op, head, version, t, reason)
			return err
		}
	})
	return t, err
}

// clearTeam ends a suspension or retirement. It keeps the revision.
func (s *TeamService) clearTeam(tx store.Tx, a core.Actor, op access.Operation, head *records.TeamHead, version int64, t countersign.Team, reason string) (countersign.Team, error) {
	before := teamRevisionText(head)
	flag, set := core.FlagOf(op, &head.Suspended, &head.Retired)
	*flag, head.UpdatedAt = set, s.Config.Now()
	t.Suspended, t.Retired, t.UpdatedAt = head.Suspended, head.Retired, head.UpdatedAt
	if _, err := records.Teams.Put(tx, a.Tenant, t.ID, head, version); err != nil {
		return t, err
	}
	return t, s.Audit(tx, a, op, "team/"+t.ID, core.Change{Before: before, After: teamRevisionText(head), Reason: reason})
}

func teamRevisionText(h *records.TeamHead) string {
	return core.RevisionText(h.Revision, h.Suspended, h.Retired)
}

// RetireTeam retires a team.
func (s *TeamService) RetireTeam(ctx context.Context, a core.Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RetireTeam, id, reason)
}

// RestoreTeam ends the retirement of a team. It keeps the revision.
func (s *TeamService) RestoreTeam(ctx context.Context, a core.Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RestoreTeam, id, reason)
}
