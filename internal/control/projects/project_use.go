package projects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// maxNamedRuns is how many unfinished runs a project_in_use names.
const maxNamedRuns = 10

// maxStartsSince is how many starts between a look at a project's use and the turn to edit it
// are looked up in the turn. With more, the look is repeated.
const maxStartsSince = 100

// seenUse is what a look has found of a project's use. The look reads all unfinished runs of
// the tenant, which may be many, so it isn't made in the turn to edit the project: that reads
// those that were started since.
type seenUse struct {
	users []string // see usersOf
	size  int64    // of the tenant's log at that moment
}

// seeUse looks at the use of a project, in a read.
func seeUse(tx store.Tx, a core.Actor, id string) (u seenUse, err error) {
	if u.size, err = audit.Size(tx, a.Tenant); err != nil {
		return u, err
	}
	list, err := unfinishedOf(tx, a.Tenant)
	if err != nil {
		return u, err
	}
	err = showAllWaiting(tx, a.Tenant, list)
	u.users = usersOf(a, id, list)
	return u, err
}

// refuse refuses an edit while unfinished runs use the project: those that the look has found,
// or that were started since. Each start is in the log, in the same commit. The error names the
// runs in scope, each with the action that it waits for.
func (u seenUse) refuse(tx store.Tx, a core.Actor, id string) error {
	if len(u.users) == 0 {
		since, err := startedSince(tx, a.Tenant, u.size)
		if err == nil {
			err = showAllWaiting(tx, a.Tenant, since)
		}
		if err != nil {
			return err
		}
		u.users = usersOf(a, id, since)
	}
	if len(u.users) > 0 {
		return countersign.Errorf(countersign.CodeProjectInUse, "unfinished runs use project %s: %s", id, strings.Join(u.users, ", "))
	}
	return nil
}

// startedSince lists the unfinished runs of a tenant that were started since its log had a size.
func startedSince(tx store.Tx, tenant string, size int64) (list []records.Unfinished, err error) {
	starts, err := audit.Following(tx, tenant, []string{string(access.StartRun)}, size, math.MaxInt64, maxStartsSince+1)
	if err == nil && len(starts) > maxStartsSince {
		err = core.ErrMoved
	}
	for i := 0; err == nil && i < len(starts); i++ {
		var u *records.Unfinished
		u, _, err = records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(tenant, strings.TrimPrefix(starts[i].Subject, "run/")))
		switch {
		case err == nil:
			list = append(list, *u)
		case errors.Is(err, store.ErrNotFound):
			err = nil // it has ended
		}
	}
	return list, err
}

// usersOf names the runs that use the project. About runs outside their scope, actors learn
// only that there are some.
func usersOf(a core.Actor, id string, list []records.Unfinished) (named []string) {
	more, others := 0, false
	for _, u := range list {
		switch {
		case !slices.Contains(u.Projects, id), u.State == records.Stranded: // a stranded run sends nothing
		case !a.Covers(u.Projects...):
			others = true
		case len(named) == maxNamedRuns:
			more++
		default:
			named = append(named, u.RunID+" ("+nextAction(u)+")")
		}
	}
	if more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	if others {
		named = append(named, "others outside your projects")
	}
	return named
}

func nextAction(u records.Unfinished) string {
	switch u.State {
	case records.Active:
		return "it is running"
	case records.Queued:
		if u.WaitingFor.Kind == countersign.WaitSlot {
			return "it waits for a slot"
		}
	}
	return u.WaitingFor.Operation + " by an " + u.WaitingFor.Role
}

// showAllWaiting sets what waits now for the entries of a tenant's unfinished runs.
func showAllWaiting(tx store.Tx, tenant string, list []records.Unfinished) error {
	stopped, err := runrepo.Stopped(tx, tenant)
	for i := range list {
		list[i].WaitingFor = run.AsWaited(list[i].WaitingFor, stopped)
	}
	return err
}

// ProjectUse is the unfinished runs that keep a project from being edited.
type ProjectUse struct {
	Runs   []RunUse
	More   int  // in scope, beyond those named
	Others bool // there are some out of the actor's scope
}

// RunUse is an unfinished run and the action that it waits for.
type RunUse struct {
	RunID      string
	Moves      string
	Since      time.Time
	WaitingFor *countersign.WaitingFor
}

// Any reports whether an edit would be refused.
func (u ProjectUse) Any() bool { return len(u.Runs) > 0 || u.Others }

// ProjectUse lists the unfinished runs that use a project, oldest first; those in scope by
// their ids.
func (s *ProjectService) ProjectUse(ctx context.Context, a core.Actor, id string) (out ProjectUse, err error) {
	err = s.View(ctx, a, access.ReadProjects, func(tx store.Tx) error {
		if _, _, err := reach.Project(tx, a, id); err != nil {
			return err
		}
		list, err := unfinishedOf(tx, a.Tenant)
		if err != nil {
			return err
		}
		if err := showAllWaiting(tx, a.Tenant, list); err != nil {
			return err
		}
		out = ProjectUse{}
		for _, u := range list {
			switch {
			case !slices.Contains(u.Projects, id), u.State == records.Stranded: // as in usersOf
			case !a.Covers(u.Projects...):
				out.Others = true
			case len(out.Runs) == maxNamedRuns:
				out.More++
			default:
				out.Runs = append(out.Runs, RunUse{u.RunID, nextAction(u), u.Since, u.WaitingFor})
			}
		}
		return nil
	})
	return out, err
}

func unfinishedOf(tx store.Tx, tenant string) ([]records.Unfinished, error) {
	return records.UnfinishedRuns.List(tx, store.Realm, store.Query{
		Where: []store.Filter{store.Equal("tenant_id", tenant)}, Order: []store.Order{{Column: "since"}},
	})
}
